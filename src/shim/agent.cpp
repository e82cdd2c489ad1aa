#include "shim/agent.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/log.h"
#include "shim/protocol.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
};

/// Four pipes or none.
class Pipes {
 public:
  bool open() {
    for (Pipe* pipe : all()) {
      std::array<int, 2> ends{};
      if (pipe2(ends.data(), O_CLOEXEC) != 0)
        return false;
      pipe->read = ends[0];
      pipe->write = ends[1];
    }
    return true;
  }
  void close_all() {
    for (const Pipe* pipe : all()) {
      if (pipe->read >= 0)
        close(pipe->read);
      if (pipe->write >= 0)
        close(pipe->write);
    }
  }

  Pipe out;
  Pipe err;
  Pipe failures;
  Pipe gate;

 private:
  std::array<Pipe*, 4> all() { return {&out, &err, &failures, &gate}; }
};

/// What the last call that failed has said, and a guess at what it means.
void explain(Text& text, const char* program, int number) {
  const char* description = strerrordesc_np(number);
  text << ": " << (description != nullptr ? description : "unknown error");
  if (number == ENOENT && program != nullptr && access(program, F_OK) == 0)
    text << " (the interpreter that its first line names is not there)";
  if (number == ENOEXEC)
    text << " (neither a program for this machine nor a script that begins with `#!`)";
  text << "\n";
}

/// Why the agent was never entered, among what it wrote to stderr: that is where people look.
/// `program` is nullptr where it is about something else.
void complain(int errors, std::string_view before, const char* program, std::string_view behind) {
  const int number = errno;
  Text text;
  text << "baton: " << before << (program != nullptr ? program : "") << behind;
  explain(text, program, number);
  (void)!write(errors, text.c_str(), text.view().size());
  errno = number;
}

[[noreturn]] void leave(int failures, Failure::Step step) {
  const Failure failure{step, errno};
  (void)!write(failures, &failure, sizeof failure);
  _exit(127);
}

/// Puts `from` at the number `to`, where exec leaves it open.
void place(int from, int to) {
  if (from == to)
    fcntl(to, F_SETFD, 0);
  else
    dup2(from, to);
}

/// Tries again for as long as a root may be away that is renamed or exchanged right now: an attempt
/// is not to be lost for that.
template <class Try>
void while_away(const char* path, const Try& attempt) {
  constexpr int kNapMs = 20;
  constexpr int kMostNaps = 100;
  for (int naps = 0; !attempt() && naps < kMostNaps; ++naps) {
    const int number = errno;
    const bool away = (number == ENOENT || number == ENOTDIR) && access(path, F_OK) != 0;
    if (away)
      poll(nullptr, 0, kNapMs);
    errno = number;
    if (!away)
      return;
  }
}

bool enter_folder(const char* path) {
  bool entered = false;
  while_away(path, [&] { return entered = chdir(path) == 0; });
  return entered;
}

/// Returns when the program cannot be entered.
void enter_program(char* const* argv, char* const* env) {
  while_away(argv[0], [&] {
    prctl(PR_SET_PDEATHSIG, 0);  // it would pass the exec
    execve(argv[0], argv, env);
    const int number = errno;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    errno = number;
    return false;
  });
}

/// Runs `before` to its end. It is a child of what will be the agent, in its session and group, so
/// it is stopped and cleaned up after like everything the agent starts.
void prepare(const Launch& launch, int failures) {
  errno = 0;
  const pid_t pid = fork();
  if (pid < 0)
    leave(failures, Failure::Step::before);
  if (pid == 0) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      leave(failures, Failure::Step::before);
    if (!enter_folder(launch.before_cwd)) {
      complain(STDERR_FILENO, "the working directory of `before`, ", launch.before_cwd,
               ", cannot be entered");
      leave(failures, Failure::Step::before);
    }
    enter_program(launch.before, launch.env);
    complain(STDERR_FILENO, "the program of `before`, ", launch.before[0], ", cannot be run");
    leave(failures, Failure::Step::before);
  }
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  if (process < 0) {
    kill(pid, SIGKILL);
    leave(failures, Failure::Step::before);
  }
  constexpr std::uint64_t kMost = 2'000'000'000;  // what poll takes; the run's own limit is below
  const int limit =
      launch.before_ms == 0 ? -1 : static_cast<int>(std::min(launch.before_ms, kMost));
  pollfd watched = {process, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&watched, 1, limit);
  } while (ready < 0 && errno == EINTR);
  errno = 0;
  // The shim ends what is left of its tree.
  if (ready == 0)
    leave(failures, Failure::Step::before_timeout);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  close(process);
  errno = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    leave(failures, Failure::Step::before);
}

/// What does not depend on what is to be started.
void stand_ready(pid_t shim, const Pipes& pipes) {
  // Nobody but the shim holds the run's lock, and nothing is entered when it is gone; this process
  // may stand here for as long as a start lets it wait.
  for (const int file : {kLockFd, kGoFd})
    close(file);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shim)
    _exit(127);
  setsid();
  // Everything that is open closes itself at exec, also what this process does not know of.
  syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  close(pipes.gate.write);
  place(pipes.out.write, STDOUT_FILENO);
  place(pipes.err.write, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  reset_signals();
}

/// Waits for the next byte; see `brief` and `enter`.
void pass_gate(const Pipes& pipes) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(pipes.gate.read, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1)
    _exit(127);  // the shim is gone or has thought better of it
}

[[noreturn]] void become_agent(pid_t shim, int directory, const char* run_id, const Pipes& pipes) {
  stand_ready(shim, pipes);
  pass_gate(pipes);
  Launch launch;
  errno = 0;
  if (!read_launch(kLaunchFd, run_id, launch)) {
    complain(STDERR_FILENO, "what is to be started cannot be read", nullptr, "");
    leave(pipes.failures.write, Failure::Step::launch);
  }
  const int input = launch.prompt
                        ? openat(directory, kPromptFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                        : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) {
    complain(STDERR_FILENO, "the prompt cannot be opened", nullptr, "");
    leave(pipes.failures.write, Failure::Step::standard_input);
  }
  place(input, STDIN_FILENO);
  // Everything above is done while the start is being written down. What the world outside of the
  // run directory has to say comes after it.
  pass_gate(pipes);
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (launch.before[0] != nullptr)
    prepare(launch, pipes.failures.write);
  if (!enter_folder(launch.cwd)) {
    complain(STDERR_FILENO, "the working directory ", launch.cwd, " cannot be entered");
    leave(pipes.failures.write, Failure::Step::cwd);
  }
  enter_program(launch.argv, launch.env);
  complain(STDERR_FILENO, "the program ", launch.argv[0], " cannot be run");
  leave(pipes.failures.write, Failure::Step::exec);
}

}  // namespace

void reset_signals() {
  // posix_spawn leaves glibc's own two signals ignored, and its wrappers refuse to speak of them.
  // All zero is the default action, whatever the layout.
  constexpr int kLastSignal = 64;
  const std::array<std::uint64_t, 8> standard{};
  for (int number = 1; number <= kLastSignal; ++number)
    syscall(SYS_rt_sigaction, number, standard.data(), nullptr, std::size_t{8});
}

const char* step_name(Failure::Step step) {
  switch (step) {
    case Failure::Step::launch:
      return "launch";
    case Failure::Step::cwd:
      return "working directory";
    case Failure::Step::standard_input:
      return "standard input";
    case Failure::Step::exec:
      return "program";
    case Failure::Step::before:
    case Failure::Step::before_timeout:
      return "before";
  }
  return "program";
}

const char* cause_of(Failure::Step step) {
  switch (step) {
    case Failure::Step::launch:
    case Failure::Step::cwd:
    case Failure::Step::standard_input:
    case Failure::Step::exec:
      return kCauseExecFailed;
    case Failure::Step::before:
      return kCauseBeforeFailed;
    case Failure::Step::before_timeout:
      return kCauseBeforeTimeout;
  }
  return kCauseExecFailed;
}

bool make_agent(int directory, const char* run_id, Agent& agent) {
  const pid_t shim = getpid();
  Pipes pipes;
  const pid_t pid = pipes.open() ? fork() : -1;
  if (pid < 0) {
    pipes.close_all();
    return false;
  }
  if (pid == 0)
    become_agent(shim, directory, run_id, pipes);
  close(pipes.out.write);
  close(pipes.err.write);
  close(pipes.failures.write);
  close(pipes.gate.read);
  fcntl(pipes.out.read, F_SETFL, O_NONBLOCK);
  fcntl(pipes.err.read, F_SETFL, O_NONBLOCK);
  fcntl(pipes.failures.read, F_SETFL, O_NONBLOCK);
  agent.pid = pid;
  agent.out = pipes.out.read;
  agent.err = pipes.err.read;
  agent.failures = pipes.failures.read;
  agent.gate = pipes.gate.write;
  return true;
}

bool still_there(const Agent& agent) {
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(agent.pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

void brief(const Agent& agent) {
  const char byte = 1;
  (void)!write(agent.gate, &byte, 1);
}

void enter(Agent& agent) {
  brief(agent);
  close(agent.gate);
  agent.gate = -1;
}

void abandon(Agent& agent) {
  close(agent.gate);
  close(agent.out);
  close(agent.err);
  close(agent.failures);
  kill(agent.pid, SIGKILL);
  waitpid(agent.pid, nullptr, 0);
  agent = Agent{.out_log = agent.out_log, .err_log = agent.err_log};
}

}  // namespace baton::shim
