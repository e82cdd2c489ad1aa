#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/event.h"
#include "core/ports.h"
#include "io/agents/run_directory.h"

namespace asio {
class io_context;
}  // namespace asio

namespace baton {

struct ProcessAgentsOptions {
  RunFolder runs;    ///< every run gets a folder in it
  std::string shim;  ///< absolute path of `baton-shim`
  std::string
      cgroup;  ///< a delegated cgroup v2 directory to put each agent's own below; may be empty
  bool reap_others = false;  ///< this process is PID 1: take in whatever else ends here
  /// After the first start: hold a shim ready for the next one. It waits without a run, outside of
  /// all that is said here, and leaves with this object or this process.
  bool keep_spare = false;
  /// How often shims that stand still are looked for, and made to go on; one that stands still at
  /// three looks in a row is ended, as is one that was told to end and is kept from it.
  Millis look_every{30'000};
  Millis shim_patience{15'000};  ///< what such a one has beyond its grace
};

/// Agents as processes of this machine, each below its own shim (shim/protocol.h).
///
/// Ends come as RunEnded through `on_end`, always from a handler of `context` and never from inside
/// a call of the port; a run is forgotten right before. Both must outlive the object; destroying it
/// leaves agents alone: those released go on, those only prepared never start. From then on this
/// process ignores SIGPIPE. One object per runs folder at a time, in one thread.
///
/// Of one run this object knows:
///
///   - parked: prepared; its shim waits at the go-pipe.
///     Then: release -> watched, discard -> dropped.
///   - watched: its shim lives and is held by a pidfd. One that its agent keeps from its work, by
///     stopping or tracing it, is killed in the end.
///     Then: the shim ends -> decided by what lies in the folder.
///   - polled: adopted; somebody holds its lock whom nobody can identify, and no signal is sent.
///     Then: its shim can be identified after all -> watched; the lock is free -> decided.
///   - sweeping: its shim was killed; another one ends its tree and writes exit.json.
///     Then: the sweeper ends -> decided.
///   - retrying: the system refused a descriptor or a process.
///     Then: a second later -> watched, where that is what was missing, else decided.
///   - dropped: discarded; only to be reaped.
///
/// Decided: exit.json -> ended as it says; lock held by right -> polled; no claim -> voided, with
/// what the shim's exit says of it as far as that is known; claim -> sweeping, ended unknown
/// (reason `shim_killed`). While a process carries the run's id and no exit.json can be read, it is
/// swept, be its folder gone.
std::unique_ptr<Agents> process_agents(asio::io_context& context, ProcessAgentsOptions options,
                                       std::function<void(RunEnded)> on_end);

}  // namespace baton
