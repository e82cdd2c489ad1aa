#include "shim/agent.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sched.h>

#include "shim/cgroup.h"
#include "shim/entry.h"
#include "shim/log.h"

namespace baton::shim {
namespace {

/// The shim wakes up that long after the claim, when it is not in the way of the entry anymore.
constexpr long kAsideMs = 10;
/// And goes on to watch the agent's limits when it is still on its way that long after this: a
/// program may lie on a file system that does not answer.
constexpr int kStuckMs = 3000;

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
  void close_writing() {
    for (const Pipe* pipe : all())
      close(pipe->write);
  }

  Pipe out;
  Pipe err;
  Pipe failures;
  Pipe entry;

 private:
  std::array<Pipe*, 4> all() { return {&out, &err, &failures, &entry}; }
};

[[noreturn]] void refuse(Start& start, ShimExit why) {
  start.refused = why;
  _exit(127);
}

void close_files(int first, int last) {
  if (first <= last)
    syscall(SYS_close_range, static_cast<unsigned>(first), static_cast<unsigned>(last), 0U);
}

/// What does not depend on what is to be started.
void stand_ready(const Start& start) {
  // Nothing is entered when the shim is gone; this process may stand here for as long as a start
  // lets it wait.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start.shim)
    _exit(127);
  setsid();
  place(start.out, STDOUT_FILENO);
  place(start.err, STDERR_FILENO);
  // What exec would have to close is closed now, but for what is needed until then. The lock is
  // among that: as long as a claim can be made here, it is held.
  std::array<int, 3> needed = {start.failures, start.entry, start.timer};
  std::sort(needed.begin(), needed.end());
  int first = kLaunchFd + 1;
  for (const int file : needed) {
    close_files(first, file - 1);
    first = file + 1;
  }
  close_files(first, std::numeric_limits<int>::max());
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  reset_signals();
}

bool record(Start& start) {
  remove_agent(kDirectoryFd);
  return read_stat(getpid(), start.agent) && write_agent(kDirectoryFd, start.agent);
}

/// The next of the daemon's two bytes. Without it the daemon is gone or has thought better of it.
void await_byte(Start& start) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(kGoFd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1)
    refuse(start, ShimExit::not_started);
}

/// False when the agent's record cannot name the cgroup it is in.
bool take_cgroup(Start& start) {
  const int cgroup = make_cgroup(start.launch.cgroup, start.run_id, start.cgroup_path.data(),
                                 start.cgroup_path.size());
  if (cgroup < 0)
    return true;
  enter_cgroup(cgroup, getpid());
  return add_cgroup(kDirectoryFd, start.cgroup_path.data());
}

/// -1, and errno says why.
int open_input(const Launch& launch) {
  return launch.prompt ? openat(kDirectoryFd, kPromptFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                       : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int become_agent(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  stand_ready(start);
  // What fails here for want of room is tried again when there is something to start.
  const bool recorded = record(start);
  if (!start.briefed)
    await_byte(start);
  start.briefed = true;
  if (!recorded && !record(start))
    refuse(start, ShimExit::no_claim);
  start.launch = {};
  if (!read_launch(kLaunchFd, start.run_id, start.launch))
    refuse(start, ShimExit::bad_call);
  if (!take_cgroup(start))
    refuse(start, ShimExit::no_claim);
  if (start.launch.before[0] == nullptr)
    close(kLaunchFd);
  const int input = open_input(start.launch);
  const int input_error = errno;
  if (input >= 0) {
    place(input, STDIN_FILENO);
    close(input);
  }
  // Everything above is done while the start is being written down. What the world outside of the
  // run directory has to say comes after it.
  await_byte(start);
  if (!make_claim(kDirectoryFd))
    refuse(start, ShimExit::no_claim);
  const itimerspec aside{.it_interval = {}, .it_value = {0, kAsideMs * 1'000'000}};
  timerfd_settime(start.timer, 0, &aside, nullptr);
  start.claimed = true;
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (input < 0) {
    errno = input_error;
    complain("the prompt cannot be opened");
    leave(start.failures, Failure::Step::standard_input);
  }
  if (start.launch.before[0] != nullptr)
    leave_memory(start.run_id, start.failures);
  enter(start.launch, start.failures);
}

}  // namespace

bool told_to_leave() {
  sigset_t pending{};
  return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

void make_logs(Agent& agent) {
  if (agent.out_log < 0)
    agent.out_log = make_log(kDirectoryFd, kStdoutFile);
  if (agent.err_log < 0)
    agent.err_log = make_log(kDirectoryFd, kStderrFile);
}

bool make_agent(Start& start, Stack& stack, Agent& agent) {
  Pipes pipes;
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (timer < 0 || !pipes.open()) {
    pipes.close_all();
    close(timer);
    return false;
  }
  for (const Pipe& pipe : {pipes.out, pipes.err, pipes.failures})
    fcntl(pipe.read, F_SETFL, O_NONBLOCK);
  start.shim = getpid();
  start.out = pipes.out.write;
  start.err = pipes.err.write;
  start.failures = pipes.failures.write;
  start.entry = pipes.entry.write;
  start.timer = timer;
  const pid_t pid = clone(become_agent, stack.data() + stack.size(), CLONE_VM | SIGCHLD, &start);
  if (pid < 0) {
    pipes.close_all();
    close(timer);
    return false;
  }
  pipes.close_writing();
  agent.pid = pid;
  agent.out = pipes.out.read;
  agent.err = pipes.err.read;
  agent.failures = pipes.failures.read;
  agent.entry = pipes.entry.read;
  agent.timer = timer;
  return true;
}

void stand_by(int signals, const Agent& agent) {
  // To be woken by the entry itself would take the processor from it.
  std::array<pollfd, 2> first = {pollfd{agent.timer, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  poll(first.data(), first.size(), -1);
  const bool claimed = first[0].revents != 0;
  pollfd left = {agent.entry, POLLIN, 0};
  if (poll(&left, 1, 0) == 0 && told_to_leave())
    kill(agent.pid, SIGKILL);
  poll(&left, 1, claimed ? kStuckMs : -1);
}

void abandon(Agent& agent) {
  for (const int file : {agent.out, agent.err, agent.failures, agent.entry, agent.timer})
    close(file);
  waitpid(agent.pid, nullptr, 0);
  // What its end was told by would be taken for the end of the next one.
  sigset_t ends{};
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  const timespec at_once{};
  sigtimedwait(&ends, nullptr, &at_once);
  agent = Agent{.out_log = agent.out_log, .err_log = agent.err_log};
}

}  // namespace baton::shim
