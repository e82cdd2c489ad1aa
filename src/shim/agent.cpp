#include "shim/agent.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/protocol.h"

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

/// The kernel is asked directly: posix_spawn leaves glibc's own two signals ignored, and its
/// wrappers refuse to speak of them. All zero is the default action, whatever the layout.
void reset_signals() {
  constexpr int kLastSignal = 64;
  const std::array<std::uint64_t, 8> standard{};
  for (int number = 1; number <= kLastSignal; ++number)
    syscall(SYS_rt_sigaction, number, standard.data(), nullptr, std::size_t{8});
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_agent(int directory, const Launch& launch, const Pipes& pipes) {
  setsid();
  // Everything that is open closes itself at exec, also what this process does not know of.
  syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  close(pipes.gate.write);
  char go = 0;
  ssize_t got = 0;
  do {
    got = read(pipes.gate.read, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1)
    _exit(127);  // the shim is gone or has thought better of it

  const int input = launch.prompt
                        ? openat(directory, kPromptFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                        : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0)
    leave(pipes.failures.write, Failure::Step::standard_input);
  place(input, STDIN_FILENO);
  place(pipes.out.write, STDOUT_FILENO);
  place(pipes.err.write, STDERR_FILENO);

  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (chdir(launch.cwd) != 0)
    leave(pipes.failures.write, Failure::Step::cwd);
  reset_signals();
  execve(launch.argv[0], launch.argv, launch.env);
  leave(pipes.failures.write, Failure::Step::exec);
}

}  // namespace

const char* step_name(Failure::Step step) {
  switch (step) {
    case Failure::Step::cwd:
      return "working directory";
    case Failure::Step::standard_input:
      return "standard input";
    case Failure::Step::exec:
      return "program";
  }
  return "program";
}

bool make_agent(int directory, const Launch& launch, Agent& agent) {
  Pipes pipes;
  const pid_t pid = pipes.open() ? fork() : -1;
  if (pid < 0) {
    pipes.close_all();
    return false;
  }
  if (pid == 0)
    become_agent(directory, launch, pipes);
  close(pipes.out.write);
  close(pipes.err.write);
  close(pipes.failures.write);
  close(pipes.gate.read);
  fcntl(pipes.out.read, F_SETFL, O_NONBLOCK);
  fcntl(pipes.err.read, F_SETFL, O_NONBLOCK);
  fcntl(pipes.failures.read, F_SETFL, O_NONBLOCK);
  agent = Agent{.pid = pid,
                .out = pipes.out.read,
                .err = pipes.err.read,
                .failures = pipes.failures.read,
                .gate = pipes.gate.write};
  return true;
}

void enter(Agent& agent) {
  const char go = 1;
  (void)!write(agent.gate, &go, 1);
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
  agent = Agent{};
}

}  // namespace baton::shim
