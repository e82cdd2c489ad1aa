#pragma once

#include <cstdint>

#include <sys/types.h>

namespace baton::shim {

/// The processes of one run. Members are: everything below `parent`, everything in the agent's
/// session as long as that can be proved to be the agent's, everything that carries the run id in
/// its environment, everything in the run's cgroup and below it, and everything below a member.
struct Tree {
  pid_t parent = 0;                     ///< the shim itself, as it is the subreaper; 0: unknown
  pid_t session = 0;                    ///< the agent's pid; 0: unknown
  std::uint64_t agent_start_ticks = 0;  ///< nothing older is a member
  const char* marker = nullptr;         ///< `BATON_RUN_ID=...`
  int cgroup = -1;                      ///< directory of the run's cgroup
};

/// Sends a signal (0: none) to all members and returns how many were alive before. -1: not all of
/// /proc could be read, so that some may have been overlooked. Each one is held by a pidfd and
/// looked at again before it is signalled, so a process number in other hands meanwhile is never
/// hit.
int signal_tree(const Tree& tree, int signal);

}  // namespace baton::shim
