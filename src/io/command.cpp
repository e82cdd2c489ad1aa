#include "io/command.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

#include "io/fd.h"

namespace baton {
namespace {

// Files in memory instead of pipes: nobody waits for anybody, however much is said.
Result<Fd> memory_file(const std::string& where) {
  Fd fd(memfd_create("baton-command", MFD_CLOEXEC));
  if (!fd)
    return system_error(errno, "cannot be run", where);
  return fd;
}

Result<std::string> content(const Fd& fd, std::size_t max_bytes, const std::string& where) {
  if (lseek(fd.get(), 0, SEEK_SET) != 0)
    return system_error(errno, "its output cannot be read", where);
  return read_all(fd.get(), max_bytes, where);
}

int exit_of(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

/// Waits for it that long; then it and all it has started are killed.
void end_after(pid_t pid, Millis limit) {
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{process.get(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + limit;
  int found = 0;
  do {
    const auto left = std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now());
    found = process ? poll(&ended, 1, static_cast<int>(std::max(left, Millis(0)).count())) : 0;
  } while (found < 0 && errno == EINTR);
  if (found <= 0)
    kill(-pid, SIGKILL);
}

/// Starts the program with these three and waits for it.
Result<int> run(const std::vector<std::string>& argv, const Fd& in, const Fd& out, const Fd& err,
                Millis limit) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (limit > Millis(0))
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return system_error(failed, "cannot be run", argv[0]);
  if (limit > Millis(0))
    end_after(pid, limit);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return system_error(errno, "cannot be waited for", argv[0]);
  return exit_of(status);
}

}  // namespace

Result<CommandOutcome> run_command(const std::vector<std::string>& argv, std::string_view input,
                                   std::size_t max_bytes, Millis limit) {
  constexpr std::size_t kMaxErrors = 1U << 20U;
  auto in = memory_file(argv[0]);
  auto out = in ? memory_file(argv[0]) : Result<Fd>(pass_on(in));
  auto err = out ? memory_file(argv[0]) : Result<Fd>(pass_on(out));
  if (!err)
    return pass_on(err);
  if (auto written = write_all(in->get(), input, argv[0]); !written)
    return pass_on(written);
  if (lseek(in->get(), 0, SEEK_SET) != 0)
    return system_error(errno, "cannot be run", argv[0]);
  auto exit = run(argv, *in, *out, *err, limit);
  if (!exit)
    return pass_on(exit);
  auto output = content(*out, max_bytes, argv[0]);
  if (!output)
    return pass_on(output);
  auto errors = content(*err, kMaxErrors, argv[0]);
  return CommandOutcome{*exit, *std::move(output), errors ? *std::move(errors) : std::string()};
}

}  // namespace baton
