// baton-shim: one agent's companion. protocol.h says what it is told and what it writes.

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/agent.h"
#include "shim/cgroup.h"
#include "shim/courier.h"
#include "shim/launch.h"
#include "shim/log.h"
#include "shim/proc.h"
#include "shim/protocol.h"
#include "shim/record.h"
#include "shim/supervise.h"
#include "shim/text.h"
#include "shim/tree.h"

namespace baton::shim {
namespace {

Text marker_of(const char* run_id) {
  Text marker;
  marker << kRunIdVariable << "=" << run_id;
  return marker;
}

/// Only what the protocol names stays open, and none of it passes an exec.
bool settle_descriptors(int last) {
  for (int file = kDirectoryFd; file <= last; ++file) {
    if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0)
      return false;
  }
  syscall(SYS_close_range, static_cast<unsigned>(last) + 1, ~0U, 0U);
  return true;
}

/// SIGTERM and SIGCHLD come through the descriptor returned, all others that can be are left
/// blocked: nothing but SIGKILL ends a shim before its work is done.
int signal_descriptor() {
  sigset_t all{};
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signal(SIGPIPE, SIG_IGN);
  sigset_t wanted{};
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  sigaddset(&wanted, SIGCHLD);
  return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// True when a byte came. End of file and SIGTERM both mean: leave.
bool wait_for_byte(int signals) {
  while (true) {
    pollfd watched[] = {{kGoFd, POLLIN, 0}, {signals, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR)
      return false;
    signalfd_siginfo info{};
    while (read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGTERM)
        return false;
    }
    if (watched[0].revents != 0) {
      char go = 0;
      const ssize_t got = read(kGoFd, &go, 1);
      if (got >= 0 || errno != EINTR)
        return got == 1;
    }
  }
}

/// Everything of a start but the claim and the agent's program.
struct Ready {
  Agent agent;  ///< pid 0: none
  Stat stat;    ///< of the agent
  int cgroup = -1;
  char cgroup_path[kPathBytes] = {};
};

void give_up(Ready& ready) {
  if (ready.agent.pid != 0)
    abandon(ready.agent);
  remove_cgroup(ready.cgroup_path);
}

/// What can be done before the run is known, so that a start need not wait for it. What fails here,
/// for want of room or of processes, is tried again when there is something to start.
bool make_ready(const char* run_id, Ready& ready) {
  Agent& agent = ready.agent;
  if (agent.pid != 0 && !still_there(agent))
    abandon(agent);
  if (agent.pid == 0) {
    remove_agent(kDirectoryFd);
    if (!make_agent(kDirectoryFd, run_id, agent))
      return false;
    if (!read_stat(agent.pid, ready.stat) || !write_agent(kDirectoryFd, ready.stat)) {
      abandon(agent);
      return false;
    }
  }
  if (agent.out_log < 0)
    agent.out_log = make_log(kDirectoryFd, kStdoutFile);
  if (agent.err_log < 0)
    agent.err_log = make_log(kDirectoryFd, kStderrFile);
  return true;
}

/// False when the agent's record cannot name the cgroup it is in.
bool take_cgroup(const char* run_id, const char* parent, Ready& ready) {
  ready.cgroup = make_cgroup(parent, run_id, ready.cgroup_path, sizeof ready.cgroup_path);
  enter_cgroup(ready.cgroup, ready.agent.pid);
  return ready.cgroup < 0 || add_cgroup(kDirectoryFd, ready.cgroup_path);
}

ShimExit watch(int signals, const char* run_id, const Launch& launch, const Ready& ready) {
  const Text marker = marker_of(run_id);
  const Tree tree{.parent = getpid(),
                  .session = 0,  // everything in it is below this process as well
                  .agent_start_ticks = ready.stat.start_ticks,
                  .marker = marker.c_str(),
                  .cgroup = ready.cgroup};
  const ExitRecord exit = supervise(signals, launch, ready.agent, tree);
  remove_cgroup(ready.cgroup_path);
  return write_exit(kDirectoryFd, run_id, exit) ? ShimExit::recorded : ShimExit::lost;
}

/// Why this process has to leave. None: the run is its own, and the agent may be entered.
std::optional<ShimExit> claim(int signals, const char* run_id, Launch& launch, Ready& ready) {
  if (!wait_for_byte(signals))
    return ShimExit::not_started;
  // Before the launch is read and closed: an agent's process made only now reads it as well.
  if (!make_ready(run_id, ready))
    return ShimExit::no_claim;
  if (!read_launch(kLaunchFd, run_id, launch))
    return ShimExit::bad_call;
  if (!take_cgroup(run_id, launch.cgroup, ready))
    return ShimExit::no_claim;
  brief(ready.agent);
  if (!wait_for_byte(signals))
    return ShimExit::not_started;
  if (!make_claim(kDirectoryFd))
    return ShimExit::no_claim;
  return std::nullopt;
}

ShimExit run(const char* run_id) {
  if (!settle_descriptors(kLaunchFd))
    return ShimExit::bad_call;
  const int signals = signal_descriptor();
  if (signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return ShimExit::bad_call;
  setsid();
  (void)!chdir("/");
  Ready ready;
  Launch launch;
  (void)make_ready(run_id, ready);
  if (const auto leaves = claim(signals, run_id, launch, ready)) {
    give_up(ready);
    return *leaves;
  }
  enter(ready.agent);
  close(kGoFd);
  tidy_claim(kDirectoryFd);
  return watch(signals, run_id, launch, ready);
}

ShimExit sweep_after_kill(const char* run_id, const char* grace) {
  std::uint64_t grace_ms = 0;
  if (!settle_descriptors(kLockFd) || !parse_number(grace, grace_ms) || signal_descriptor() < 0)
    return ShimExit::bad_call;
  setsid();
  (void)!chdir("/");
  const Text marker = marker_of(run_id);
  Tree tree{.marker = marker.c_str()};
  AgentRecord agent;
  char boot_id[kBootIdBytes] = {};
  read_boot_id(boot_id, sizeof boot_id);
  if (read_agent(kDirectoryFd, agent) && std::strcmp(agent.boot_id, boot_id) == 0) {
    tree.session = agent.session;
    tree.agent_start_ticks = agent.start_ticks;
    tree.cgroup = open_cgroup_of(run_id, agent.cgroup);
  }
  ExitRecord exit;
  exit.cause = kCauseShimKilled;
  sweep(tree, grace_ms, exit);
  if (tree.cgroup >= 0)
    remove_cgroup(agent.cgroup);
  exit.ended_ms = unix_ms();
  return write_exit(kDirectoryFd, run_id, exit) ? ShimExit::recorded : ShimExit::lost;
}

ShimExit tell(const char* limit_ms, char** argv) {
  if (!settle_descriptors(kLifeFd))
    return ShimExit::bad_call;
  const int signals = signal_descriptor();
  setsid();
  return signals < 0 ? ShimExit::bad_call : deliver(signals, limit_ms, argv);
}

ShimExit called(int count, char** words) {
  if (count < 3 || std::string_view(words[1]) != kCallVersion)
    return ShimExit::bad_call;
  const std::string_view mode(words[2]);
  if (mode == kModeFits && count == 3)
    return ShimExit::recorded;
  if (mode == kModeRun && count == 4)
    return run(words[3]);
  if (mode == kModeSweep && count == 5)
    return sweep_after_kill(words[3], words[4]);
  if (mode == kModeTell && count >= 5)
    return tell(words[3], words + 4);
  return ShimExit::bad_call;
}

}  // namespace
}  // namespace baton::shim

#ifdef BATON_SANITIZE
/// The search for leaks at the end cannot do its work in a process that is a subreaper with its
/// signals blocked: it gives up, and its exit code would replace the shim's.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "detect_leaks=0";
}
#endif

int main(int count, char** words) {
  return static_cast<int>(baton::shim::called(count, words));
}
