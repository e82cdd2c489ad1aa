// SPDX-License-Identifier: Apache-2.0

// The floor: the least that starts a program when a file changes. inotify, a blocking read,
// posix_spawn; no reading, no checking, no memory. What a daemon takes beyond it is the price of
// what it promises. usage: reaction_floor FOLDER AGENT LOG
#include <array>
#include <csignal>
#include <cstring>
#include <string>

#include <sys/inotify.h>
#include <unistd.h>

#include <spawn.h>

int main(int argc, char** argv) {
  if (argc != 4)
    return 2;
  const std::string folder = argv[1];
  std::signal(SIGCHLD, SIG_IGN);
  const int inotify = inotify_init1(IN_CLOEXEC);
  if (inotify < 0 ||
      inotify_add_watch(inotify, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR) < 0)
    return 3;
  alignas(inotify_event) std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t size = read(inotify, buffer.data(), buffer.size());
    if (size <= 0)
      return 3;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = buffer.data() + at + sizeof event;
      at += sizeof event + event.len;
      if (event.len == 0 || name[0] == '.')
        continue;
      std::string path = folder + "/" + name;
      std::array<char*, 4> arguments{argv[2], argv[3], path.data(), nullptr};
      pid_t pid = 0;
      posix_spawn(&pid, argv[2], nullptr, nullptr, arguments.data(), environ);
    }
  }
}
