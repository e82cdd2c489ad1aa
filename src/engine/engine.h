// SPDX-License-Identifier: Apache-2.0
#pragma once

// The daemon of one root, apart from the outside world: the path of a change in src/README.md ("The
// one path"). A step takes what came in, reads files, decides, commits one transaction and performs
// it.
// The engine sees files, agents, journal and clock only through core/ports.h. It has one thread,
// and no call blocks for long. The event loop, signals and notifications belong to the daemon
// (src/daemon).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/setup.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "core/reconcile.h"
#include "engine/recovery.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// How much of the waiting work one step takes on. The rest stays queued for the next step, which
/// `pending` asks for. 0: no limit.
struct StepLimits {
  Millis time{0};         ///< of reading and checking files, by the clock of the ports
  std::size_t files = 0;  ///< files looked at that nothing else of the step needs
  std::size_t ends = 0;   ///< ends of runs
};

struct Ports {
  Disk& disk;
  Journal& journal;
  Agents& agents;
  Requests& requests;
  Clock& clock;
  Observer& observer;
  Providers& providers;
  Spending& spending;
  const TimeZones& zones;
  StepLimits limits{};
};

/// Why the daemon can start nothing now; it tries again all the time.
struct StartTrouble {
  std::string why;
  Time since{};
  bool passing = true;  ///< false: somebody has to act, for example because daemon.db is damaged
};

struct ConfiguredParts;  // engine/configured_parts.h

/// Call `recover` once. Then call `step` when inputs come in, while `pending` is true, and when
/// `wake` is due. Between two steps other things may have their turn: a step is short (StepLimits).
class Engine {
 public:
  /// Errc::config: a schema cannot be used, and the setup does not tolerate that.
  static Result<std::unique_ptr<Engine>> make(const Ports& ports, Setup setup);
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;

  /// Reads the journal and settles what the last daemon left open: runs first, then writes. The
  /// next step scans the whole root.
  virtual Result<void> recover() = 0;
  /// One step. An error (Errc::io) means that the state is unknown: end the daemon and start again.
  /// The engine handles all other trouble itself, such as a full disk or a lack of processes, and
  /// tries again later.
  virtual Result<void> step(const std::vector<Input>& inputs) = 0;
  /// Work is left: step again at once, with no input.
  virtual bool pending() const = 0;
  /// When to step again at the latest, even without input.
  virtual std::optional<Time> wake() const = 0;

  /// No agent runs, baton waits for no file, and nothing will happen until somebody acts.
  virtual bool quiet() const = 0;
  /// Like `quiet`, but pauses before a start do not count: `next_due` says when one ends.
  virtual bool settled() const = 0;
  /// When the next start may be due by itself; nothing if only somebody outside can bring one.
  virtual std::optional<Time> next_due() const = 0;
  /// Why nothing can start although the daemon may start agents.
  virtual std::optional<StartTrouble> start_trouble() const = 0;
  /// How many agents run. An agent that has ended does not count, even if its end is not recorded
  /// yet because the root is unavailable.
  virtual std::size_t running() const = 0;
  /// Whether an agent of this flow runs.
  virtual bool runs(const FlowId& flow) const = 0;
  /// Whether backups are still being encrypted.
  virtual bool encrypting() const = 0;
  /// Starts nothing from now on (`drain`, or the daemon is ending).
  virtual void drain() = 0;
  /// Starts nothing from now on, because the configuration no longer names this root. The daemon
  /// stops serving the root when the last agent has ended.
  virtual void give_up() = 0;
  /// Whether parts of the root are polled, so that no event says when a file is closed.
  virtual void polled(bool polled) = 0;
  /// Whether a request `drain` came in. It concerns all roots of the daemon.
  virtual bool drain_wanted() const = 0;
  /// Stops all agents (a second Ctrl-C). This pauses no flow: the next daemon starts their work
  /// again.
  virtual void stop_agents(const std::string& why) = 0;
  /// How many places for agents the other roots of the daemon take.
  virtual void running_elsewhere(std::uint32_t agents) = 0;
  /// How many flows of this root have files, and how many the other roots of the daemon have.
  virtual const FlowCounts& flow_counts() const = 0;
  virtual void flows_elsewhere(FlowCounts counts) = 0;
  /// Ids of the requests `reload` since the last call. Answer each of them with `answer`.
  virtual std::vector<std::string> reloads_wanted() = 0;
  virtual void answer(const Reply& reply) = 0;
  /// Checks a new configuration and prepares the parts for it. Nothing changes yet, so the daemon
  /// can check all its roots before it changes the first one. Errc::config as for `make`.
  virtual Result<std::unique_ptr<ConfiguredParts>> configured_parts_of(Setup setup) = 0;
  /// Puts the new configuration in force. The next step decides all flows again.
  virtual void reconfigure(std::unique_ptr<ConfiguredParts> parts) = 0;

  /// A schema file that has changed since baton read it; nothing if none has. After such a change a
  /// reload has an effect even if `baton.yaml` is the same.
  virtual std::optional<std::string> changed_schema() const = 0;

  virtual const FlowRecords& records() const = 0;
  virtual const FlowIndex& flow_index() const = 0;
  virtual const Catalog& catalog() const = 0;
  /// The accepted documents of a flow, for `baton explain`. Errc::not_found, parse, io.
  virtual Result<FlowState> documents(const FlowId& flow) = 0;
  /// A flow's main document as the request `recover` would write it; writes nothing.
  /// Errc::not_found, or as for `Recovery::rebuilt`.
  virtual Result<Rebuilt> rebuilt(const FlowId& flow) = 0;
  /// What the last step decided to start and stop. In a rehearsal the step did none of it.
  virtual const Plan& plan() const = 0;
  /// The disk of the journal is full: baton looks after running agents and starts nothing.
  virtual bool disk_full() const = 0;
  /// What a rehearsal in another process cannot find out by itself.
  virtual DaemonState daemon_state() const = 0;
};

}  // namespace baton
