// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds all processes of a run and signals them, without hitting any other process. An agent's
// processes may fork, start sessions and lose their parents, so several marks are used together.

#include <cstdint>
#include <optional>

#include <sys/types.h>

namespace baton::shim {

/// The processes of one run: everything below `parent`, in the agent's session (if it is proved to
/// be the agent's), with the run id in its environment, in the run's cgroup, and everything below
/// one of these.
struct Tree {
  pid_t parent = 0;                     ///< the shim, which is the subreaper; 0: unknown
  pid_t session = 0;                    ///< the agent's pid; 0: unknown
  std::uint64_t agent_start_ticks = 0;  ///< an older process is never a member
  const char* marker = nullptr;         ///< `BATON_RUN_ID=...`
  int cgroup = -1;                      ///< directory of the run's cgroup
  pid_t not_member = 0;                 ///< a child of the shim that does not belong to the run
  /// Set if `session` comes from a file: this user can write the file, and so could name the
  /// session of anybody. Only processes of this user and those in the cgroup get signals.
  std::optional<uid_t> owner;
};

/// Sends a signal (0: none) to all members and returns how many were alive before. Members
/// that must not get signals (`owner`) count, too. -1: /proc could not be read completely, so
/// members may have been missed. Each member is held by a pidfd and checked again before the
/// signal, so a reused number is never hit.
int signal_tree(const Tree& tree, int signal);

/// The CPU time, in milliseconds, of all living processes below `parent` and of the children that
/// they have waited for. -1: /proc could not be read completely.
std::int64_t tree_cpu_ms(const Tree& tree);

}  // namespace baton::shim
