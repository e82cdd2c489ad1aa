// SPDX-License-Identifier: Apache-2.0
#include "io/system/command.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

#include "io/system/process.h"

namespace baton {
namespace {

constexpr int kNotRun = 127;

// Input and output are files in memory instead of pipes, so neither side waits for the other,
// however long the text is.
Result<std::string> content(const Fd& fd, std::size_t max_bytes, const std::string& where) {
  if (lseek(fd.get(), 0, SEEK_SET) != 0)
    return system_error(errno, "its output cannot be read", where);
  return read_all(fd.get(), max_bytes, where);
}

struct Streams {
  Fd in;
  Fd out;
  Fd err;
};

Result<Streams> streams_for(const std::string& where, std::string_view input) {
  auto in = file_in_memory(input, where);
  auto out = in ? file_in_memory("", where) : pass_on(in);
  auto err = out ? file_in_memory("", where) : pass_on(out);
  if (!err)
    return pass_on(err);
  return Streams{*std::move(in), *std::move(out), *std::move(err)};
}

Result<CommandOutcome> outcome(int exit, const Streams& streams, std::size_t max_bytes,
                               const std::string& where) {
  constexpr std::size_t kMaxErrors = 1U << 20U;
  auto output = content(streams.out, max_bytes, where);
  if (!output)
    return pass_on(output);
  auto errors = content(streams.err, kMaxErrors, where);
  return CommandOutcome{exit, *std::move(output), errors ? *std::move(errors) : std::string()};
}

int exit_of(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

/// Our environment with `settings`, each NAME=VALUE, in the place of ours.
std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all = settings;
  for (char* const* at = environ; *at != nullptr; ++at) {
    const std::string_view ours = *at;
    const std::string_view name = ours.substr(0, ours.find('=') + 1);
    const auto replaces = [&](const std::string& each) { return each.starts_with(name); };
    if (!std::any_of(settings.begin(), settings.end(), replaces))
      all.emplace_back(ours);
  }
  return all;
}

/// Starts the program and waits for it.
Result<int> run(const std::vector<std::string>& argv, const Streams& streams,
                const std::vector<std::string>& settings) {
  std::vector<std::string> words = argv;
  std::vector<std::string> env = environment_with(settings);
  const std::vector<char*> pointers = pointers_to(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams.in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.err.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), pointers_to(env).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return system_error(failed, "cannot be run", argv[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return system_error(errno, "cannot be waited for", argv[0]);
  return exit_of(status);
}

/// Runs between fork and exec.
[[noreturn]] void become(pid_t parent, const Streams& streams, char* const* argv, char* const* env,
                         const std::string& folder) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  sigset_t none{};
  sigemptyset(&none);
  for (const int ignored : {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ})
    (void)signal(ignored, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (getppid() == parent && (folder.empty() || chdir(folder.c_str()) == 0) &&
      dup2(streams.in.get(), STDIN_FILENO) >= 0 && dup2(streams.out.get(), STDOUT_FILENO) >= 0 &&
      dup2(streams.err.get(), STDERR_FILENO) >= 0)
    execve(argv[0], argv, env);
  const char* const why = strerrordesc_np(errno);
  (void)!write(STDERR_FILENO, why, strlen(why));
  _exit(kNotRun);
}

class Child final : public RunningCommand {
 public:
  Child(std::string name, Streams streams, pid_t pid, Fd process, std::size_t max_bytes,
        Millis limit)
      : name_(std::move(name)),
        streams_(std::move(streams)),
        pid_(pid),
        process_(std::move(process)),
        max_bytes_(max_bytes),
        limit_(limit),
        awaited_(pid) {}
  ~Child() override {
    if (pid_ > 0)
      (void)end();
  }

  std::optional<Result<CommandOutcome>> ended(bool wait) override {
    const Millis left = std::max(
        Millis(0), std::chrono::duration_cast<Millis>(end_ - std::chrono::steady_clock::now()));
    const bool over = has_ended(process_.get(), wait ? left : Millis(0));
    if (!over && !wait && left > Millis(0))
      return std::nullopt;
    auto exit = end();
    if (!over)
      return fail(Errc::busy, "did not end within " + duration_text(limit_), name_);
    if (!exit)
      return pass_on(exit);
    return outcome(*exit, streams_, max_bytes_, name_);
  }

 private:
  /// Kills what is left of the program and collects its exit status.
  Result<int> end() {
    const pid_t pid = std::exchange(pid_, 0);
    kill(-pid, SIGKILL);
    awaited_ = {};
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
      if (errno != EINTR)
        return system_error(errno, "cannot be waited for", name_);
    return exit_of(status);
  }

  std::string name_;
  Streams streams_;
  pid_t pid_;
  Fd process_;
  std::size_t max_bytes_;
  Millis limit_;
  AwaitedChild awaited_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + limit_;
};

}  // namespace

Result<Fd> file_in_memory(std::string_view text, const std::string& where) {
  Fd fd(memfd_create("baton-command", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd)
    return system_error(errno, "cannot be run", where);
  if (auto written = write_all(fd.get(), text, where); !written)
    return pass_on(written);
  if (lseek(fd.get(), 0, SEEK_SET) != 0 || (!text.empty() && !seal(fd)))
    return system_error(errno, "cannot be run", where);
  return fd;
}

bool seal(const Fd& file) {
  return fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) ==
         0;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<CommandOutcome> run_command(const std::vector<std::string>& argv, std::string_view input,
                                   std::size_t max_bytes,
                                   const std::vector<std::string>& settings) {
  auto streams = streams_for(argv[0], input);
  if (!streams)
    return pass_on(streams);
  auto exit = run(argv, *streams, settings);
  if (!exit)
    return pass_on(exit);
  return outcome(*exit, *streams, max_bytes, argv[0]);
}

Result<std::unique_ptr<RunningCommand>> RunningCommand::start(
    const std::vector<std::string>& argv, std::string_view input, std::size_t max_bytes,
    Millis limit, const std::optional<std::vector<std::string>>& env, const std::string& folder) {
  auto streams = streams_for(argv[0], input);
  if (!streams)
    return pass_on(streams);
  std::vector<std::string> words = argv;
  const std::vector<char*> pointers = pointers_to(words);
  std::vector<std::string> settings = env.value_or(std::vector<std::string>());
  const std::vector<char*> own = pointers_to(settings);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return system_error(errno, "cannot be run", argv[0]);
  if (pid == 0)
    become(parent, *streams, pointers.data(), env ? own.data() : environ, folder);
  setpgid(pid, pid);  // the child does this too, because either of the two may run first
  Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    const int error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return system_error(error, "cannot be watched", argv[0]);
  }
  return std::unique_ptr<RunningCommand>(std::make_unique<Child>(
      argv[0], *std::move(streams), pid, std::move(process), max_bytes, limit));
}

}  // namespace baton
