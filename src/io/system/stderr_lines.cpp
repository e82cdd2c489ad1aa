// SPDX-License-Identifier: Apache-2.0
#include "io/system/stderr_lines.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace baton {

StderrLines::StderrLines(int file) : file_(file) {
  struct stat facts {};
  if (fstat(file, &facts) != 0)
    return;
  socket_ = S_ISSOCK(facts.st_mode);
  waits_ = S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode);
  if (waits_)
    own_ = Fd(open(("/proc/self/fd/" + std::to_string(file)).c_str(),
                   O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// Writes as much as fits now and returns the number of bytes.
std::size_t StderrLines::put(std::string_view text) const {
  std::size_t taken = 0;
  while (taken < text.size()) {
    const std::string_view next = text.substr(taken);
    ssize_t got = 0;
    if (socket_) {
      got = send(file_, next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (own_ || !waits_) {
      got = ::write(own_ ? own_.get() : file_, next.data(), next.size());
    } else {
      // This process could not open the file again. When poll reports room, PIPE_BUF bytes fit.
      pollfd room{.fd = file_, .events = POLLOUT, .revents = 0};
      if (poll(&room, 1, 0) <= 0)
        return taken;
      got = ::write(file_, next.data(), std::min<std::size_t>(next.size(), PIPE_BUF));
    }
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return taken;
    taken += static_cast<std::size_t>(got);
  }
  return taken;
}

/// Returns false when nothing was written.
bool StderrLines::keep(std::string_view text) {
  const std::size_t taken = put(text);
  rest_ = text.substr(taken);
  if (taken == 0)
    rest_.clear();
  return taken > 0;
}

void StderrLines::write(std::string_view line) {
  ++lost_;  // subtracted again when the line is written
  rest_.erase(0, put(rest_));
  if (!rest_.empty())
    return;
  if (lost_ > 1) {
    const std::string word = std::to_string(lost_ - 1) +
                             (lost_ == 2 ? " line was" : " lines were") +
                             " lost here: no room to write\n";
    if (!keep(word))
      return;
    lost_ = 1;
    if (!rest_.empty())
      return;
  }
  if (keep(line))
    lost_ = 0;
}

}  // namespace baton
