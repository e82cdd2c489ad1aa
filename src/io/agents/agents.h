// SPDX-License-Identifier: Apache-2.0
#pragma once

// The `Agents` port: starts, adopts and stops agents as processes of this machine, each below its
// own small shim (shim/protocol.h). The shim outlives the daemon, so a run survives a restart of
// baton. Also here: the cgroup that agents are put into.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/event.h"
#include "core/ports.h"
#include "io/agents/run_directory.h"
#include "io/agents/systemd_units.h"

namespace asio {
class io_context;
}  // namespace asio

namespace baton {

struct ProcessAgentsOptions {
  RunFolder runs;      ///< every run gets a folder in it
  std::string shim;    ///< absolute path of `baton-shim`
  std::string cgroup;  ///< an absolute, delegated cgroup v2 directory; each agent gets its own
                       ///< below; may be ""
  /// Runs are transient units of systemd, and have their cgroups below those of their units.
  std::optional<SystemdUnits> units = std::nullopt;
  std::string root = {};  ///< real path of the root, for the names of units
  /// this process is PID 1: collect the exit status of unknown children, too
  bool reap_others = false;
  /// After the first start, keep one shim ready for the next start. It has no run yet, and ends
  /// with this object or this process.
  bool keep_spare = false;
  /// How often to look for stopped shims and continue them. baton kills a shim that is stopped, or
  /// has not begun its run (a manager that makes no unit), at three looks in a row, or that is
  /// still stopped some time after baton told it to end.
  Millis look_every{30'000};
  Millis shim_patience{15'000};  ///< how long such a shim has beyond its grace
};

/// Ends come as RunEnded through `on_end`, always from a handler of `context` and never from inside
/// a call of the port. A run is forgotten right before. `context` and `on_end` must outlive the
/// object. When it is destroyed, released agents continue, and prepared ones never start. It makes
/// this process ignore SIGPIPE. Use one object per runs folder at a time, in one thread.
///
/// The states of a run:
///
///   - parked: prepared; its shim waits at the go-pipe.
///     Then: release -> watched, discard -> dropped.
///   - watched: its shim lives and is held by a pidfd. A shim that its agent stops or traces is
///     killed in the end.
///     Then: the shim ends -> decided by the content of the folder.
///   - polled: adopted; an unknown process holds its lock, so no signal is sent.
///     Then: the shim is identified -> watched; the lock is free -> decided.
///   - sweeping: its shim was killed; another shim ends its tree and writes exit.json.
///     Then: the sweeper ends -> decided.
///   - retrying: the system refused a descriptor or a process.
///     Then: a second later -> watched if that was missing, else decided.
///   - dropped: discarded; only its exit status is still to be collected.
///
/// Decided: the shim was seen to exit with `recorded` -> ended as exit.json says; lock held by a
/// shim -> polled; no claim -> voided, with the reason from the exit of the shim if known; claim ->
/// sweeping, then ended as unknown (reason `shim_killed`), whatever exit.json says. Nobody sees how
/// the shim of an adopted run exits: then exit.json counts if nothing of the run lives. While a
/// process carries the run's id and no exit.json can be read, the run is swept, even if its folder
/// is gone. If a swept run had no cgroup of its own, the end says that processes may be left.
std::unique_ptr<Agents> process_agents(asio::io_context& context, ProcessAgentsOptions options,
                                       std::function<void(RunEnded)> on_end);

/// The absolute path of a process's version 2 cgroup, from the texts of /proc/PID/cgroup and
/// /proc/PID/mountinfo (cgroups(7), proc(5)). Nothing when it has none, or its part of the tree is
/// not mounted.
std::optional<std::string> cgroup_directory(std::string_view cgroup, std::string_view mountinfo);

/// The cgroup of this process, if a service manager delegated it (`Delegate=yes`), so that baton
/// may create cgroups in it. Root may create cgroups anywhere; for root, the mark of the manager
/// counts. "" when there is none. With `DelegateSubgroup=` it is the one around that of this
/// process. Passes the controllers `memory` and `pids` on to the cgroups of agents, if it can.
std::string delegated_cgroup();

/// Why agents of the process `daemon`, or of a daemon that this process would start (0), get no
/// cgroup of their own; "" if they do. Changes nothing.
std::string without_cgroup(std::int64_t daemon);

/// Why the limit that needs this controller (`memory`, `pids`) is not enforced for agents of the
/// process `daemon`, or of a daemon that this process would start (0). "" if it is. Changes
/// nothing.
std::string unenforced_limit(std::int64_t daemon, const std::string& controller);
/// The same for agents in units.
std::string unenforced_limit(const SystemdUnits& units, const std::string& controller);

}  // namespace baton
