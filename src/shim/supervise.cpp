// SPDX-License-Identifier: Apache-2.0
#include "shim/supervise.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <limits>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/cgroup.h"
#include "shim/entry.h"
#include "shim/identity.h"
#include "shim/idle.h"
#include "shim/log.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

/// The pause between two looks at a tree that must end. SIGCHLD reports most ends earlier.
constexpr std::int64_t kLookAgainMs = 50;
constexpr int kEmptyLooks = 3;

std::int64_t clock_ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::int64_t deadline(std::int64_t from, std::uint64_t limit_ms) {
  const auto room = static_cast<std::uint64_t>(kNever - from);
  return limit_ms == 0 || limit_ms >= room ? kNever : from + static_cast<std::int64_t>(limit_ms);
}

std::int64_t milliseconds(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000;
}

class Supervisor {
 public:
  Supervisor(int signals, const Start& start, const Agent& agent, const Tree& tree,
             const char* cause)
      : signals_(signals),
        failures_(agent.failures),
        launch_(start.launch),
        tree_(tree),
        agent_(agent.pid),
        both_log_(make_common_log(launch_.log)),
        order_(kDirectoryFd),
        out_(agent.out_log, agent.out, both_log_, launch_.log_cap_bytes, order_, 'o'),
        err_(agent.err_log, agent.err, both_log_, launch_.log_cap_bytes, order_, 'e'),
        // A process that was killed in the moment of its claim did not write down the time.
        started_(start.claimed ? start.steady_ms : steady_ms()),
        idle_(launch_, tree_, started_),
        memory_kills_(memory_kills(tree_.cgroup)) {
    exit_.cause = cause != nullptr ? cause : kCauseExit;
    exit_.started_ms = start.claimed ? start.unix_ms : unix_ms();
  }

  std::optional<ExitRecord> run() {
    // The agent may have ended already, and `stand_by` may have taken its SIGCHLD.
    reap();
    for (step(steady_ms()); phase_ != Phase::done; step(steady_ms()))
      wait();
    if (blind_)
      return std::nullopt;
    finish();
    return exit_;
  }

 private:
  void wait();
  void read_signals();
  void read_failure();
  void reap();
  void step(std::int64_t now);
  void begin_end(std::int64_t now, const char* cause);
  bool tree_empty();
  int signal_all(int signal);
  void kill_all();
  void count_survivors();
  void count_memory_kills();
  void finish();
  std::int64_t next_deadline() const;

  int signals_;
  int failures_;
  const Launch& launch_;
  Tree tree_;
  pid_t agent_;
  int both_log_;  ///< created late, so that it does not delay the start
  Order order_;
  Log out_;
  Log err_;
  std::int64_t started_;
  IdleWatch idle_;
  std::uint64_t memory_kills_;  ///< before the run
  std::int64_t phase_ends_ = kNever;
  Phase phase_ = Phase::running;
  bool term_ = false;
  bool agent_ended_ = false;
  bool childless_ = false;
  bool blind_ = false;  ///< the survivors are unknown
  ExitRecord exit_;
};

std::int64_t Supervisor::next_deadline() const {
  if (phase_ != Phase::running)
    return std::min(phase_ends_, steady_ms() + kLookAgainMs);
  return std::min(deadline(started_, launch_.timeout_ms), idle_.next());
}

void Supervisor::wait() {
  // poll ignores negative descriptors. The agent's `failures` are not watched: waking up for the
  // entry would take the processor from it.
  std::array<pollfd, 3> watched = {pollfd{signals_, POLLIN, 0}, pollfd{out_.source(), POLLIN, 0},
                                   pollfd{err_.source(), POLLIN, 0}};
  const std::int64_t next = next_deadline();
  int timeout = -1;
  if (next != kNever)
    timeout = static_cast<int>(std::clamp<std::int64_t>(next - steady_ms(), 0, 3'600'000));
  // poll fails when an agent has taken our descriptors. Then look from time to time.
  if (poll(watched.data(), watched.size(), timeout) < 0 && errno != EINTR)
    poll(nullptr, 0, static_cast<int>(kLookAgainMs));
  const std::int64_t now = steady_ms();
  const bool out = out_.drain(now);
  const bool err = err_.drain(now);
  if (out || err)
    idle_.heard(now);
  read_signals();
}

void Supervisor::read_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGTERM)
      term_ = true;
  }
  // One SIGCHLD may stand for many ends, and asking costs nothing.
  reap();
}

/// Reads why the program was not entered, if so. At the end is early enough, because a process that
/// fails to enter its program ends at once.
void Supervisor::read_failure() {
  Failure failure;
  if (read(failures_, &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure)) {
    exit_.cause = row_of(failure.step).cause;
    exit_.error_step = row_of(failure.step).step;
    exit_.error_number = failure.number;
  }
}

void Supervisor::reap() {
  while (true) {
    int status = 0;
    rusage usage{};
    const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    // As the subreaper, this process is the parent of all orphans: without children, the tree is
    // empty.
    childless_ = pid < 0 && errno == ECHILD;
    if (pid <= 0)
      return;
    if (pid == idle_.looker()) {
      idle_.looker_ended(status);
      continue;
    }
    exit_.user_ms += milliseconds(usage.ru_utime);
    exit_.system_ms += milliseconds(usage.ru_stime);
    exit_.max_rss_kib = std::max<std::int64_t>(exit_.max_rss_kib, usage.ru_maxrss);
    if (pid != agent_)
      continue;
    agent_ended_ = true;
    idle_.stop();
    exit_.ended_ms = unix_ms();
    exit_.wall_ms = steady_ms() - started_;
    if (WIFEXITED(status))
      exit_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status))
      exit_.signal = WTERMSIG(status);
  }
}

bool Supervisor::tree_empty() {
  if (!agent_ended_)
    return false;
  // A looker that hangs is still our child. Then only /proc tells.
  tree_.not_member = idle_.looker();
  if (idle_.looker() != 0)
    return signal_tree(tree_, 0) == 0;
  return childless_ && signal_tree(tree_, 0) <= 0;
}

/// Like `signal_tree`. Without descriptors /proc cannot be read; then signal at least the agent and
/// its group.
int Supervisor::signal_all(int signal) {
  tree_.not_member = idle_.looker();
  const int alive = signal_tree(tree_, signal);
  if (alive < 0 && !agent_ended_) {
    kill(agent_, signal);
    kill(-agent_, signal);
    kill(-agent_, SIGCONT);
  }
  return alive;
}

void Supervisor::kill_all() {
  kill_cgroup(tree_.cgroup);
  signal_all(SIGKILL);
}

void Supervisor::begin_end(std::int64_t now, const char* cause) {
  idle_.stop();
  if (cause != nullptr)
    exit_.cause = cause;
  const int alive = signal_all(SIGTERM);
  if (agent_ended_)
    exit_.leftovers = std::max(0, alive);
  phase_ = Phase::terminating;
  // A grace of zero means no grace, unlike the other limits.
  phase_ends_ = launch_.kill_grace_ms == 0 ? now : deadline(now, launch_.kill_grace_ms);
}

void Supervisor::count_survivors() {
  const int alive = signal_tree(tree_, 0);
  blind_ = alive < 0;
  exit_.survivors = std::max(1, alive);
}

void Supervisor::step(std::int64_t now) {
  switch (phase_) {
    case Phase::running:
      if (agent_ended_ && tree_empty())
        phase_ = Phase::done;
      else if (agent_ended_)
        begin_end(now, nullptr);
      else if (now >= deadline(started_, launch_.timeout_ms))
        begin_end(now,
                  kCauseWallLimit);  // also when the time was over because this process was stopped
      else if (term_)
        begin_end(now, kCauseTerm);
      else if (idle_.is_idle(now, exit_.user_ms + exit_.system_ms))
        begin_end(now, kCauseIdleLimit);
      return;
    case Phase::terminating:
      if (tree_empty()) {
        phase_ = Phase::done;
      } else if (now >= phase_ends_) {
        if (agent_ended_ && exit_.leftovers == 0)
          exit_.leftovers = std::max(0, signal_tree(tree_, 0));
        kill_all();
        phase_ = Phase::killing;
        phase_ends_ = now + kKillPatienceMs;
      }
      return;
    case Phase::killing:
      if (tree_empty()) {
        phase_ = Phase::done;
      } else if (now >= phase_ends_) {
        count_survivors();
        phase_ = Phase::done;
      } else {
        kill_all();
      }
      return;
    case Phase::done:
      return;
  }
}

void Supervisor::finish() {
  const std::int64_t now = steady_ms();
  read_failure();
  // What is still in the pipes belongs to the run. Do not wait for end of file.
  out_.drain(now);
  err_.drain(now);
  out_.finish(kDirectoryFd, kStdoutTailFile);
  err_.finish(kDirectoryFd, kStderrTailFile);
  order_.finish();
  exit_.stdout_bytes = out_.received();
  exit_.stderr_bytes = err_.received();
  exit_.stdout_dropped = out_.dropped();
  exit_.stderr_dropped = err_.dropped();
  if (!agent_ended_) {
    exit_.ended_ms = unix_ms();
    exit_.wall_ms = now - started_;
  }
  // At shutdown, all processes get SIGTERM at once, and the agent may end first with its own
  // status. An agent that ended with success counts as successful.
  read_signals();
  if (term_ && exit_.cause == kCauseExit && exit_.exit_code != 0)
    exit_.cause = kCauseTerm;
  count_memory_kills();
}

/// Notes that the kernel killed the agent for memory. A killed child alone is none of it: the agent
/// may have gone on. A shell reports such an end of its program as the exit status 137.
void Supervisor::count_memory_kills() {
  constexpr int kKilledInShell = 128 + SIGKILL;
  const std::uint64_t kills = memory_kills(tree_.cgroup);
  if (exit_.cause != kCauseExit || kills <= memory_kills_ ||
      (exit_.signal != SIGKILL && exit_.exit_code != kKilledInShell))
    return;
  exit_.memory_kills = kills - memory_kills_;
  const std::uint64_t peak = memory_peak_kib(tree_.cgroup);
  exit_.memory_peak_kib = peak > 0 ? peak : static_cast<std::uint64_t>(exit_.max_rss_kib);
}

}  // namespace

std::int64_t unix_ms() {
  return clock_ms(CLOCK_REALTIME);
}
std::int64_t steady_ms() {
  return clock_ms(CLOCK_BOOTTIME);  // the clock of the daemon
}

std::optional<ExitRecord> supervise(int signals, const Start& start, const Agent& agent,
                                    const Tree& tree, const char* cause) {
  return Supervisor(signals, start, agent, tree, cause).run();
}

bool sweep(const Tree& tree, std::uint64_t grace_ms, ExitRecord& exit) {
  const std::int64_t begin = steady_ms();
  const auto grace = static_cast<std::int64_t>(std::min<std::uint64_t>(grace_ms, 3'600'000));
  exit.leftovers = tree.cgroup < 0 ? 0 : std::max(0, signal_tree(tree, 0));
  // At once: with a grace, a process could leave the cgroup meanwhile.
  kill_cgroup(tree.cgroup);
  int alive = signal_tree(tree, SIGTERM);
  exit.leftovers = std::max(exit.leftovers, alive);
  // A process that is in exec shows no variables at that moment. So the tree counts as empty only
  // after several looks; children are always found.
  const int enough = tree.marker != nullptr ? kEmptyLooks : 1;
  for (int empty = alive == 0 ? 1 : 0; empty < enough;) {
    poll(nullptr, 0, static_cast<int>(kLookAgainMs));
    const std::int64_t passed = steady_ms() - begin;
    if (passed >= grace + kKillPatienceMs)
      break;
    if (passed >= grace) {
      kill_cgroup(tree.cgroup);
      signal_tree(tree, SIGKILL);
    }
    alive = signal_tree(tree, 0);
    empty = alive == 0 ? empty + 1 : 0;
    exit.leftovers = std::max(exit.leftovers, alive);
  }
  exit.survivors = std::max(0, alive);
  return alive >= 0;
}

namespace {

constexpr std::uint64_t kGraceMs = 1000;

[[noreturn]] void become_program(pid_t shim, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shim)
    _exit(127);
  setsid();
  reset_signals();
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (drop_capabilities())
    execve(argv[0], argv, environ);
  _exit(127);
}

/// Returns true when nothing is left: as the subreaper, this process is the parent of all orphans.
/// Sets `failed` when the program has ended with another status than 0.
bool childless(pid_t program, bool& failed) {
  pid_t pid = 0;
  int status = 0;
  do {
    pid = waitpid(-1, &status, WNOHANG);
    failed = failed || (pid == program && status != 0);
  } while (pid > 0);
  return pid < 0 && errno == ECHILD;
}

bool asked_to_end(int signals) {
  bool leave = false;
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    leave = leave || info.ssi_signo == SIGTERM;
  return leave;
}

}  // namespace

ShimExit run_notify_program(int signals, const char* limit_ms, char** argv) {
  std::uint64_t limit = 0;
  if (!parse_number(limit_ms, limit) || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return ShimExit::bad_call;
  const pid_t shim = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return ShimExit::not_started;
  if (pid == 0)
    become_program(shim, argv);
  constexpr std::uint64_t kMost = 3'600'000;
  const std::int64_t end = steady_ms() + static_cast<std::int64_t>(std::min(limit, kMost));
  bool failed = false;
  while (!childless(pid, failed)) {
    const std::int64_t left = end - steady_ms();
    pollfd watched[] = {{kLifeFd, POLLIN, 0}, {signals, POLLIN, 0}};
    if (left > 0 && poll(watched, 2, static_cast<int>(left)) < 0 && errno != EINTR)
      return ShimExit::lost;
    if (left > 0 && watched[0].revents == 0 && !asked_to_end(signals))
      continue;
    ExitRecord exit;
    const bool known = sweep(Tree{.parent = shim}, kGraceMs, exit);
    (void)childless(pid, failed);
    if (!known || exit.survivors != 0)
      return ShimExit::lost;
    return left > 0 ? ShimExit::recorded : ShimExit::program_late;
  }
  return failed ? ShimExit::program_failed : ShimExit::recorded;
}

}  // namespace baton::shim
