// SPDX-License-Identifier: Apache-2.0
#include "shim/agent.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>
#include <utility>

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
#include "shim/supervise.h"

namespace baton::shim {
namespace {

/// The shim wakes up this long after the claim, so that it does not take the processor from the
/// start.
constexpr long kAsideMs = 10;

struct Pipe {
  int read = -1;
  int write = -1;
};

/// Makes four pipes or none.
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

/// Does everything that does not depend on the run.
void stand_ready(const Start& start) {
  // Do not start anything when the shim is gone. This process may wait here for a long time.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start.shim)
    _exit(127);
  setsid();
  place(start.out, STDOUT_FILENO);
  place(start.err, STDERR_FILENO);
  // Close now what exec would have to close, except what is still needed. The lock is needed: it
  // must be held as long as this process can make a claim.
  std::array<int, 3> needed = {start.failures, start.entry, start.timer};
  std::sort(needed.begin(), needed.end());
  int first = kPromptFd + 1;
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

/// Waits for the next of the daemon's two bytes. At end of file, ends this process: the daemon has
/// dropped the run or is gone.
void await_byte(Start& start) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(kGoFd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1)
    refuse(start, ShimExit::not_started);
}

/// Enters a cgroup for the run, if there can be one. Returns false when the cgroup cannot be added
/// to the record of the agent, or when an agent of another user would be without one: nothing else
/// finds its processes.
bool take_cgroup(Start& start) {
  const int cgroup = make_cgroup(start.launch.cgroup, start.run_id, start.cgroup_path.data(),
                                 start.cgroup_path.size());
  if (cgroup < 0)
    return start.launch.uid == 0;
  limit_cgroup(cgroup, start.launch.memory_max_bytes, start.launch.tasks_max);
  if (!enter_cgroup(cgroup, getpid()) && start.launch.uid != 0)
    return false;
  return add_cgroup(kDirectoryFd, start.cgroup_path.data());
}

/// Returns -1 with errno on failure.
int open_input(const Launch& launch) {
  if (!launch.prompt)
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
  // The daemon has written it by this descriptor. A process before this one may have read it.
  if (lseek(kPromptFd, 0, SEEK_SET) != 0)
    return -1;
  return fcntl(kPromptFd, F_DUPFD_CLOEXEC, kPromptFd + 1);
}

int become_agent(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  stand_ready(start);
  // If the disk is full now, try again below, when there is something to start.
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
  if (start.launch.uid != 0)
    place(kPromptFd, kPromptFd);  // its programs open it as kPromptName
  const int input = open_input(start.launch);
  const int input_error = errno;
  if (input >= 0) {
    place(input, STDIN_FILENO);
    close(input);
  }
  // Everything above happens while the daemon records the start. Everything that depends on files
  // outside the run directory comes after it.
  await_byte(start);
  // Drop the signals that came so far: they were meant for another process, or came too early.
  sigset_t all{};
  sigfillset(&all);
  const timespec at_once{};
  while (sigtimedwait(&all, nullptr, &at_once) > 0) {}
  if (!make_claim(kDirectoryFd))
    refuse(start, ShimExit::no_claim);
  start.steady_ms = steady_ms();
  start.unix_ms = unix_ms();
  start.claimed = true;
  const itimerspec aside{.it_interval = {}, .it_value = {0, kAsideMs * 1'000'000}};
  timerfd_settime(start.timer, 0, &aside, nullptr);
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
  become(start.launch, start.failures);
  enter(start.launch, start.failures);
}

/// Removes a pending signal. Makes no call that fails, because the agent's process shares errno.
void forget(int signal) {
  sigset_t pending{};
  sigset_t wanted{};
  sigemptyset(&wanted);
  sigaddset(&wanted, signal);
  const timespec at_once{};
  if (sigpending(&pending) == 0 && sigismember(&pending, signal) == 1)
    sigtimedwait(&wanted, nullptr, &at_once);
}

/// Whether the process has left this memory, or does so within this time.
bool has_left(const Agent& agent, int within_ms) {
  pollfd left = {agent.entry, POLLIN, 0};
  return poll(&left, 1, within_ms) > 0;
}

/// Continues the process if a signal stopped it, so that it can start or end. Returns false when it
/// has ended.
bool keep_going(const Agent& agent) {
  forget(SIGCHLD);
  siginfo_t news{};
  waitid(P_PID, static_cast<id_t>(agent.pid), &news, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
  if (news.si_pid != 0 && news.si_code == CLD_STOPPED)
    kill(agent.pid, SIGCONT);
  return news.si_pid == 0 || news.si_code == CLD_STOPPED;
}

struct Limit {
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  ///< in the time of `steady_ms`
  const char* cause = nullptr;
};

/// The limit for a process that is about to enter its program.
Limit first_limit(const Start& start) {
  const auto [timeout, idle] = std::pair(start.launch.timeout_ms, start.launch.idle_timeout_ms);
  const bool by_idle = idle != 0 && (timeout == 0 || idle < timeout);
  const std::uint64_t limit = by_idle ? idle : timeout;
  const auto room = static_cast<std::uint64_t>(Limit{}.end - start.steady_ms);
  if (limit == 0 || limit >= room)
    return {};
  return {start.steady_ms + static_cast<std::int64_t>(limit),
          by_idle ? kCauseIdleLimit : kCauseWallLimit};
}

int milliseconds_until(std::int64_t end) {
  constexpr std::int64_t kLongest = 3'600'000;
  if (end == Limit{}.end)
    return -1;
  return static_cast<int>(std::clamp<std::int64_t>(end - steady_ms(), 0, kLongest));
}

/// Kills a process that has not entered the agent's program, without SIGTERM first. Before the
/// claim, waits as long as it takes, because the shim must know whether the process makes the
/// claim.
const char* cut(const Start& start, const Agent& agent, const char* cause) {
  kill(agent.pid, SIGKILL);
  has_left(agent, start.claimed ? static_cast<int>(kKillPatienceMs) : -1);
  return cause;
}

}  // namespace

bool asked_to_end() {
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

const char* stand_by(int signals, const Start& start, const Agent& agent) {
  bool claimed = false;
  while (true) {
    // Waking up for the claim or the entry would take the processor from the start. When the timer
    // fires, most have entered; one that has not may hang on a file system that does not answer.
    std::array<pollfd, 3> watched = {pollfd{signals, POLLIN, 0},
                                     pollfd{claimed ? -1 : agent.timer, POLLIN, 0},
                                     pollfd{claimed ? agent.entry : -1, POLLIN, 0}};
    const Limit limit = claimed ? first_limit(start) : Limit{};
    poll(watched.data(), watched.size(), milliseconds_until(limit.end));
    if (has_left(agent, 0))
      return nullptr;
    claimed = claimed || watched[1].revents != 0;
    if (asked_to_end())
      return cut(start, agent, nullptr);
    if (steady_ms() >= limit.end)
      return cut(start, agent, limit.cause);
    if (watched[0].revents != 0 && !keep_going(agent))
      return nullptr;
  }
}

void abandon(Agent& agent) {
  for (const int file : {agent.out, agent.err, agent.failures, agent.entry, agent.timer})
    close(file);
  waitpid(agent.pid, nullptr, 0);
  // The pending SIGCHLD of this process would look like the end of the next one.
  forget(SIGCHLD);
  agent = Agent{.out_log = agent.out_log, .err_log = agent.err_log};
}

}  // namespace baton::shim
