// SPDX-License-Identifier: Apache-2.0
#include "shim/entry.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/identity.h"
#include "shim/protocol.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

/// What may be missing when the program itself exists.
const char* missing_of(const char* program) {
  std::array<char, 4> head{};
  const int file = open(program, O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? -1 : read(file, head.data(), head.size());
  if (file >= 0)
    close(file);
  const std::string_view text(head.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  if (text.starts_with("#!"))
    return " (the interpreter that its first line names is not there)";
  return text == "\x7f"
                 "ELF"
             ? " (the loader it was linked for, of its C library, is not there)"
             : "";
}

/// Explains the errno of the last call, with a guess at the cause.
void explain(Text& text, const char* program, int number) {
  const char* description = strerrordesc_np(number);
  text << ": " << (description != nullptr ? description : "unknown error");
  if (number == ENOENT && program != nullptr)
    text << missing_of(program);
  if (number == ENOEXEC)
    text << " (neither a program for this machine nor a script that begins with `#!`)";
  text << "\n";
}

/// `program` is nullptr when the message is about something else.
void complain(std::string_view before, const char* program, std::string_view behind) {
  const int number = errno;
  Text text;
  text << "baton: " << before << (program != nullptr ? program : "") << behind;
  explain(text, program, number);
  (void)!write(STDERR_FILENO, text.c_str(), text.view().size());
  errno = number;
}

/// Errors that may vanish in a moment: a root that is being renamed, a program that is being
/// written, a lack of resources. That the path exists now says nothing about a moment ago.
bool passes(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ETXTBSY:
    case EAGAIN:
    case ENOMEM:
    case ENFILE:
    case EINTR:
    case ESTALE:
      return true;
    default:
      return false;
  }
}

/// Tries again while the error may vanish, so that no attempt is lost for it.
template <class Try>
void persist(const Try& attempt) {
  constexpr int kNapMs = 20;
  constexpr int kMostNaps = 100;
  for (int naps = 0; !attempt() && naps < kMostNaps; ++naps) {
    const int number = errno;
    const bool passing = passes(number);
    if (passing)
      poll(nullptr, 0, kNapMs);
    errno = number;
    if (!passing)
      return;
  }
}

/// Kills this process when `parent` ends, or at once if it has ended already.
void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(127);
}

bool enter_folder(const char* path) {
  bool entered = false;
  persist([&] { return entered = chdir(path) == 0; });
  return entered;
}

/// Returns only when the program cannot be entered.
void enter_program(char* const* argv, char* const* env) {
  const pid_t parent = getppid();
  persist([&] {
    prctl(PR_SET_PDEATHSIG, 0);  // otherwise it would stay set after exec
    execve(argv[0], argv, env);
    const int number = errno;
    end_with(parent);
    errno = number;
    return false;
  });
}

/// Runs `before` to its end. It is a child of the future agent, in its session and group, so it is
/// stopped and cleaned up like everything that the agent starts.
void prepare(const Launch& launch, int failures) {
  errno = 0;
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    leave(failures, Failure::Step::before);
  if (pid == 0) {
    end_with(self);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      leave(failures, Failure::Step::before);
    if (!enter_folder(launch.before_cwd)) {
      complain("the working directory of `before`, ", launch.before_cwd, ", cannot be entered");
      leave(failures, Failure::Step::before);
    }
    enter_program(launch.before, launch.env);
    complain("the program of `before`, ", launch.before[0], ", cannot be run");
    leave(failures, Failure::Step::before);
  }
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  if (process < 0) {
    kill(pid, SIGKILL);
    leave(failures, Failure::Step::before);
  }
  // the longest time for poll; the limit of the run comes below
  constexpr std::uint64_t kMost = 2'000'000'000;
  const int limit =
      launch.before_ms == 0 ? -1 : static_cast<int>(std::min(launch.before_ms, kMost));
  pollfd watched = {process, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&watched, 1, limit);
  } while (ready < 0 && errno == EINTR);
  errno = 0;
  // The shim ends the rest of its tree.
  if (ready == 0)
    leave(failures, Failure::Step::before_timeout);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  close(process);
  errno = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    leave(failures, Failure::Step::before);
}

}  // namespace

void reset_signals() {
  // posix_spawn leaves two internal signals of glibc ignored, and glibc's functions refuse to
  // change them. All bytes zero is the default action in any layout.
  constexpr int kLastSignal = 64;
  const std::array<std::uint64_t, 8> standard{};
  for (int number = 1; number <= kLastSignal; ++number)
    syscall(SYS_rt_sigaction, number, standard.data(), nullptr, std::size_t{8});
}

const FailureRow& row_of(Failure::Step step) {
  // In the order of Failure::Step.
  static constexpr std::array<FailureRow, 7> kRows = {{{"launch", kCauseExecFailed},
                                                       {"working directory", kCauseExecFailed},
                                                       {"standard input", kCauseExecFailed},
                                                       {"program", kCauseExecFailed},
                                                       {"before", kCauseBeforeFailed},
                                                       {"before", kCauseBeforeTimeout},
                                                       {"user", kCauseExecFailed}}};
  return kRows[static_cast<std::size_t>(step)];
}

void place(int from, int to) {
  if (from == to)
    fcntl(to, F_SETFD, 0);
  else
    dup2(from, to);
}

void complain(const char* what) {
  complain(what, nullptr, "");
}

void leave(int failures, Failure::Step step) {
  const Failure failure{step, errno};
  (void)!write(failures, &failure, sizeof failure);
  _exit(127);
}

void become(const Launch& launch, int failures) {
  if (become_user(launch))
    return;
  complain("the user of the agent cannot be changed");
  leave(failures, Failure::Step::user);
}

void enter(const Launch& launch, int failures) {
  if (!enter_folder(launch.cwd)) {
    complain("the working directory ", launch.cwd, " cannot be entered");
    leave(failures, Failure::Step::cwd);
  }
  enter_program(launch.argv, launch.env);
  complain("the program ", launch.argv[0], " cannot be run");
  leave(failures, Failure::Step::exec);
}

void leave_memory(const char* run_id, int failures) {
  place(failures, kFailuresFd);
  place(kLaunchFd, kLaunchFd);
  // If the shim is killed, this variable identifies processes that are about to enter a program.
  Text marker;
  marker << kRunIdVariable << "=" << run_id;
  const char* const variables[] = {marker.c_str(), nullptr};
  execle("/proc/self/exe", "baton-shim", kCallVersion, kModeEnter, run_id, nullptr, variables);
  complain("baton-shim cannot be entered again for `before`");
  leave(failures, Failure::Step::before);
}

void prepare_and_enter(const char* run_id) {
  for (const int file : {kFailuresFd, kLaunchFd})
    fcntl(file, F_SETFD, FD_CLOEXEC);
  Launch launch;
  errno = 0;
  if (!read_launch(kLaunchFd, run_id, launch)) {
    complain("the launch description cannot be read");
    leave(kFailuresFd, Failure::Step::launch);
  }
  become(launch, kFailuresFd);
  prepare(launch, kFailuresFd);
  enter(launch, kFailuresFd);
}

}  // namespace baton::shim
