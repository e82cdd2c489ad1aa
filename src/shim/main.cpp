// SPDX-License-Identifier: Apache-2.0

// baton-shim stands between the daemon and one agent. protocol.h specifies it.

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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/agent.h"
#include "shim/cgroup.h"
#include "shim/entry.h"
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

/// Closes all descriptors that the protocol does not name. exec closes the rest.
bool settle_descriptors(int last) {
  for (int file = kDirectoryFd; file <= last; ++file) {
    if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0)
      return false;
  }
  syscall(SYS_close_range, static_cast<unsigned>(last) + 1, ~0U, 0U);
  return true;
}

/// Returns a signalfd for SIGTERM and SIGCHLD. All other signals stay blocked, so only SIGKILL ends
/// a shim before its work is done.
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

/// Returns true when a byte came. End of file and SIGTERM both mean: exit.
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

ShimExit watch(int signals, const Start& start, Agent& agent, const char* cause) {
  make_logs(agent);
  const Text marker = marker_of(start.run_id);
  const char* const cgroup = start.cgroup_path.data();
  const Tree tree{.parent = getpid(),
                  .session = 0,  // its processes are also below this process
                  .agent_start_ticks = start.agent.start_ticks,
                  .marker = marker.c_str(),
                  .cgroup = open_cgroup_of(start.run_id, cgroup)};
  const auto exit = supervise(signals, start, agent, tree, cause);
  if (!exit)
    return ShimExit::lost;
  remove_cgroup(cgroup);
  return write_exit(kDirectoryFd, start.run_id, *exit) ? ShimExit::recorded : ShimExit::lost;
}

/// Starts the agent. Returns why this process must exit. Nothing: the run is claimed, and the agent
/// is in its program or was ended with `cause`. If the agent's process could not be made yet, or
/// was killed while it waited, it is made again once there is something to start.
std::optional<ShimExit> attempt(int signals, Start& start, Stack& stack, Agent& agent,
                                const char*& cause) {
  while (true) {
    const bool last = start.briefed;
    if (make_agent(start, stack, agent)) {
      cause = stand_by(signals, start, agent);
      if (start.claimed || (!start.refused && claim_made(kDirectoryFd)))
        return std::nullopt;
      abandon(agent);
      remove_cgroup(start.cgroup_path.data());
    }
    if (start.refused)
      return start.refused;
    if (asked_to_end())
      return ShimExit::not_started;
    if (last)
      return ShimExit::no_claim;
    if (!start.briefed && !wait_for_byte(signals))
      return ShimExit::not_started;
    start.briefed = true;
  }
}

ShimExit run(const char* run_id) {
  if (!settle_descriptors(kPromptFd))
    return ShimExit::bad_call;
  const int signals = signal_descriptor();
  if (signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return ShimExit::bad_call;
  setsid();
  (void)!chdir("/");
  Start start;
  start.run_id = run_id;
#ifdef BATON_SANITIZE
  Stack stack;  // anywhere else ASan would complain on the agent's stderr
#else
  static Stack stack;  // the stack limit of the system may be smaller
#endif
  Agent agent;
  make_logs(agent);
  const char* cause = nullptr;
  if (const auto leaves = attempt(signals, start, stack, agent, cause))
    return *leaves;
  close(kGoFd);
  close(kLaunchFd);
  close(kPromptFd);
  return watch(signals, start, agent, cause);
}

ShimExit sweep_after_kill(const char* run_id, const char* grace, const char* cgroup) {
  std::uint64_t grace_ms = 0;
  if (!settle_descriptors(kLockFd) || !parse_number(grace, grace_ms) || signal_descriptor() < 0)
    return ShimExit::bad_call;
  setsid();
  (void)!chdir("/");
  const Text marker = marker_of(run_id);
  // The agent can change its record, but not what the daemon knows.
  Tree tree{.marker = marker.c_str(), .cgroup = open_cgroup_of(run_id, cgroup)};
  struct stat folder {};
  if (fstat(kDirectoryFd, &folder) != 0)
    return ShimExit::bad_call;
  tree.owner = folder.st_uid;
  AgentRecord agent;
  char boot_id[kBootIdBytes] = {};
  read_boot_id(boot_id, sizeof boot_id);
  if (read_agent(kDirectoryFd, agent) && std::strcmp(agent.boot_id, boot_id) == 0) {
    tree.session = agent.session;
    tree.agent_start_ticks = agent.start_ticks;
    if (tree.cgroup < 0) {
      cgroup = agent.cgroup;
      tree.cgroup = open_cgroup_of(run_id, cgroup);
    }
  }
  ExitRecord exit;
  exit.cause = kCauseShimKilled;
  // The record is final, and the next attempt would run beside any process that we missed.
  if (!sweep(tree, grace_ms, exit))
    return ShimExit::lost;
  if (tree.cgroup >= 0)
    remove_cgroup(cgroup);
  exit.ended_ms = unix_ms();
  return write_exit(kDirectoryFd, run_id, exit) ? ShimExit::recorded : ShimExit::lost;
}

ShimExit tell(const char* limit_ms, char** argv) {
  if (!settle_descriptors(kLifeFd))
    return ShimExit::bad_call;
  const int signals = signal_descriptor();
  setsid();
  return signals < 0 ? ShimExit::bad_call : run_notify_program(signals, limit_ms, argv);
}

ShimExit called(int count, char** words) {
  if (count < 3 || std::string_view(words[1]) != kCallVersion)
    return ShimExit::bad_call;
  const std::string_view mode(words[2]);
  if (mode == kModeFits && count == 3)
    return ShimExit::recorded;
  if (mode == kModeRun && count == 4)
    return run(words[3]);
  if (mode == kModeEnter && count == 4)
    prepare_and_enter(words[3]);
  if (mode == kModeSweep && count == 6)
    return sweep_after_kill(words[3], words[4], words[5]);
  if (mode == kModeTell && count >= 5)
    return tell(words[3], words + 4);
  return ShimExit::bad_call;
}

}  // namespace
}  // namespace baton::shim

#ifdef BATON_SANITIZE
/// The leak check does not work in a subreaper with blocked signals: it gives up, and its exit code
/// would replace that of the shim.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "detect_leaks=0";
}
#endif

int main(int count, char** words) {
  // An agent of the same user must neither read the secrets of other roles here nor make the shim
  // record what it likes. Each exec ends this, so the agent's program is open as usual.
  prctl(PR_SET_DUMPABLE, 0);
  return static_cast<int>(baton::shim::called(count, words));
}
