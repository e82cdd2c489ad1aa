// SPDX-License-Identifier: Apache-2.0
#include "io/files/log_parts.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/disk.h"
#include "io/files/safe_open.h"

namespace baton {

Result<LogParts> LogParts::below(const RootFolder& root, const std::string& path) {
  auto fd = open_regular(root.fd(), path, O_RDONLY);
  if (!fd)
    return pass_on(fd);
  return LogParts(*std::move(fd), path);
}

Result<LogParts> LogParts::at(const std::string& path) {
  auto fd = open_file(path);
  if (!fd)
    return pass_on(fd);
  return LogParts(*std::move(fd), path);
}

Result<std::optional<std::string>> LogParts::next(std::size_t max_bytes) {
  std::string part = std::exchange(left_, {});
  while (!over_ && part.size() < max_bytes) {
    const std::size_t have = part.size();
    part.resize(max_bytes);
    const ssize_t got = read(fd_.get(), part.data() + have, max_bytes - have);
    part.resize(have + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && errno != EINTR)
      return system_error(errno, "cannot be read", path_);
    over_ = got == 0;
  }
  if (part.empty())
    return std::optional<std::string>();
  if (over_)
    return std::optional(std::move(part));
  const std::size_t end = part.rfind('\n');
  if (end == std::string::npos)
    return fail(Errc::too_large, "has a line of more than " + std::to_string(max_bytes) + " bytes",
                path_);
  left_ = part.substr(end + 1);
  part.resize(end + 1);
  return std::optional(std::move(part));
}

}  // namespace baton
