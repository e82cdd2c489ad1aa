// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes in the cgroup of the daemon's unit that belong to no run.
//
// Problem: an agent runs as the same user as the daemon, to whom the whole delegated cgroup
// belongs. So it can move a process out of the cgroup of its run, into that of the daemon. With a
// session of its own, without variables and without its shim, nothing else finds this process. Way:
// compare who is in the cgroup with who belongs there: the daemon, the shims, and all below them.
// Limits: only where systemd started the daemon in this cgroup. Elsewhere, people's shells and
// editors are in the same one.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/run.h"

namespace baton {

struct ForeignProcess {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string name;
  bool operator==(const ForeignProcess&) const = default;
};

/// The live runs of all roots, by what is known of them.
struct LiveRuns {
  std::set<RunId> ids;
  std::set<std::int64_t> shims;
};

class UnitCgroup {
 public:
  /// Looks whether systemd started this process, and in a delegated cgroup.
  UnitCgroup();

  /// The processes that belong to no run. Processes that systemd starts in the cgroup for a reload
  /// are left out, and shims that are older than this process: they are those of another root.
  std::vector<ForeignProcess> foreign(const LiveRuns& live) const;

  /// Kills those of them that began after this process.
  void end(const std::vector<ForeignProcess>& processes) const;

 private:
  void look_in(const std::string& cgroup, const LiveRuns& live, int depth,
               std::set<std::int64_t>& pids) const;

  std::string directory_;  ///< the delegated cgroup; "": none
  std::uint64_t began_ = 0;
};

}  // namespace baton
