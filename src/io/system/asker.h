// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out who asks: a person, or an agent inside its run. Every agent has the user of the daemon,
// and its environment is its own, so neither tells. What an agent cannot change is what it
// descends from: the shim of its run is a subreaper, so a process that was orphaned or began a
// session of its own still has the shim among its ancestors.
// Limits: a process that an agent has started through another service (cron, `systemd-run`) is none
// of its run.

#include <cstdint>
#include <string>

#include "core/event.h"

namespace baton {

/// Who this living process is. In this order: below the shim of a run; in the cgroup of a run; in
/// the session of a run in `state_folder`. Shims above this process itself do not count, unless
/// `process` is this process: a daemon that runs inside of an agent serves everybody there.
/// Asker::Kind::nobody: the process has ended, or cannot be seen.
Asker asker_of(std::int64_t process, const std::string& state_folder);

/// Who runs this command.
Asker own_asker(const std::string& state_folder);

/// The process that holds a POSIX lock on the file. 0: no process does, or it cannot be seen. Right
/// also for the locks of this process.
std::int64_t posix_lock_holder(int fd);

/// Whether a run of this state folder still has its shim.
bool any_run_lives(const std::string& state_folder);

}  // namespace baton
