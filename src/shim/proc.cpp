// SPDX-License-Identifier: Apache-2.0
#include "shim/proc.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "shim/text.h"

namespace baton::shim {
namespace {

/// Looks for `entry` among NUL-separated texts that arrive in pieces.
class Matcher {
 public:
  explicit Matcher(std::string_view entry) : entry_(entry) {}

  bool found_in(const char* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (bytes[i] == '\0') {
        if (same_ && at_ == entry_.size())
          return true;
        at_ = 0;
        same_ = true;
        continue;
      }
      same_ = same_ && at_ < entry_.size() && entry_[at_] == bytes[i];
      ++at_;
    }
    return false;
  }

 private:
  std::string_view entry_;
  std::size_t at_ = 0;
  bool same_ = true;
};

}  // namespace

ssize_t read_small(int directory, const char* name, char* text, std::size_t size) {
  const int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return -1;
  std::size_t have = 0;
  while (have + 1 < size) {
    const ssize_t got = read(file, text + have, size - 1 - have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    have += static_cast<std::size_t>(got);
  }
  close(file);
  text[have] = '\0';
  return static_cast<ssize_t>(have);
}

bool read_stat(pid_t pid, Stat& stat) {
  std::array<char, 1024> bytes{};
  Text path;
  path << "/proc/" << pid << "/stat";
  errno = 0;
  const ssize_t size = read_small(AT_FDCWD, path.c_str(), bytes.data(), bytes.size());
  if (size <= 0)
    return false;
  // The name in brackets may contain blanks and brackets, so start after the last bracket.
  const char* behind_name = std::strrchr(bytes.data(), ')');
  if (behind_name == nullptr || behind_name[1] != ' ')
    return false;
  std::string_view rest(behind_name + 2);
  constexpr int kState = 3;
  constexpr int kParent = 4;
  constexpr int kSession = 6;
  constexpr int kFirstTime = 14;
  constexpr int kLastTime = 17;
  constexpr int kThreads = 20;
  constexpr int kStart = 22;
  std::uint64_t parent = 0;
  std::uint64_t session = 0;
  bool good = true;
  stat.cpu_ticks = 0;
  for (int number = kState; number <= kStart; ++number) {
    const std::string_view text = take_until(rest, ' ');
    if (number == kState && !text.empty())
      stat.state = text[0];
    else if (number == kParent)
      good = good && parse_number(text, parent);
    else if (number == kSession)
      good = good && parse_number(text, session);
    else if (number >= kFirstTime && number <= kLastTime) {
      std::uint64_t ticks = 0;
      (void)parse_number(text, ticks);
      stat.cpu_ticks += ticks;
    } else if (number == kThreads)
      good = good && parse_number(text, stat.threads);
    else if (number == kStart)
      good = good && parse_number(text, stat.start_ticks);
  }
  stat.pid = pid;
  stat.parent = static_cast<pid_t>(parent);
  stat.session = static_cast<pid_t>(session);
  return good;
}

bool read_user(pid_t pid, uid_t& user) {
  constexpr std::string_view kUser = "\nUid:\t";
  std::array<char, 4096> bytes{};
  Text path;
  path << "/proc/" << pid << "/status";
  errno = 0;
  // The owner of /proc/PID is root if the process is not dumpable.
  if (read_small(AT_FDCWD, path.c_str(), bytes.data(), bytes.size()) <= 0)
    return false;
  std::string_view rest(bytes.data());
  const std::size_t found = rest.find(kUser);
  if (found == std::string_view::npos)
    return false;
  rest.remove_prefix(found + kUser.size());
  std::uint64_t number = 0;
  if (!parse_number(take_until(rest, '\t'), number))
    return false;
  user = static_cast<uid_t>(number);
  return true;
}

bool has_variable(pid_t pid, const char* entry) {
  Text path;
  path << "/proc/" << pid << "/environ";
  errno = 0;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  std::array<char, 4096> bytes{};
  Matcher matcher(entry);
  bool found = false;
  while (!found) {
    const ssize_t got = read(file, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    found = matcher.found_in(bytes.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return found;
}

bool short_of_means(int number) {
  return number == EMFILE || number == ENFILE || number == ENOMEM;
}

std::uint64_t memory_kills_of_machine() {
  std::array<char, 32768> bytes{};
  std::uint64_t kills = 0;
  if (read_small(AT_FDCWD, "/proc/vmstat", bytes.data(), bytes.size()) > 0)
    (void)parse_number(line_value(bytes.data(), "oom_kill"), kills);
  return kills;
}

void read_boot_id(char* text, std::size_t size) {
  text[0] = '\0';
  if (read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, size) < 0)
    return;
  text[std::strcspn(text, "\n")] = '\0';
}

}  // namespace baton::shim
