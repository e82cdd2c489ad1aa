#pragma once

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

struct Ports {
  Disk& disk;
  Journal& journal;
  Agents& agents;
  Requests& requests;
  Clock& clock;
  Observer& observer;
};

struct ConfiguredParts;  // engine/configured_parts.h

/// One root's daemon: the one path of src/README.md. One thread; no call blocks for long. A step
/// looks at what came in, decides, commits one transaction, and performs what it says.
class Engine {
 public:
  /// Errc::config when a schema cannot be used or an option makes no sense.
  static Result<std::unique_ptr<Engine>> make(const Ports& ports, Setup setup);
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;

  /// Reads the journal and settles what was open: runs, then intents. Then a Rescan is due.
  virtual Result<void> recover() = 0;
  /// One step. Errc::io: nothing may be relied on any more; end, start anew. Any other trouble is
  /// dealt with inside (a full disk, no processes: tried again later).
  virtual Result<void> step(const std::vector<Input>& inputs) = 0;
  /// Something is left to do at once: step again with no input.
  virtual bool pending() const = 0;
  /// When to step again at the latest, without any input.
  virtual std::optional<Time> wake() const = 0;

  /// Nothing runs, nothing is settling, and nothing will be started without somebody's doing.
  virtual bool quiet() const = 0;
  /// Agents that run. One whose end waits for the root does not.
  virtual std::size_t running() const = 0;
  /// Of one flow.
  virtual bool runs(const FlowId& flow) const = 0;
  /// Backups are on their way through their program.
  virtual bool sealing() const = 0;
  /// No new starts from now on (`drain`, or the daemon is ending).
  virtual void drain() = 0;
  /// Nor any on this root, which its daemon serves no more when the last agent has ended.
  virtual void give_up() = 0;
  /// A request for `drain` came in, which is meant for the whole daemon.
  virtual bool drain_wanted() const = 0;
  /// Ends all agents (an impatient Ctrl-C). Not remembered: the next daemon starts their work
  /// again.
  virtual void stop_agents(const std::string& why) = 0;
  virtual void running_elsewhere(std::uint32_t agents) = 0;
  /// Requests to read the configuration again that came in; answer each with `answer`.
  virtual std::vector<std::string> reloads_wanted() = 0;
  virtual void answer(const Reply& reply) = 0;
  /// What a new configuration comes to; nothing has changed yet, so that the roots of a daemon can
  /// be checked all before the first is exchanged. Errc::config as of `make`.
  virtual Result<std::unique_ptr<ConfiguredParts>> configured_parts_of(Setup setup) = 0;
  /// The new configuration is in force; everything is decided anew.
  virtual void reconfigure(std::unique_ptr<ConfiguredParts> parts) = 0;

  /// A schema that is not any more as it was read, so that `configured_parts_of` the same setup
  /// comes to something else; nothing when all are.
  virtual std::optional<std::string> changed_schema() const = 0;

  virtual const FlowRecords& records() const = 0;
  virtual const FlowIndex& flow_index() const = 0;
  virtual const Catalog& catalog() const = 0;
  /// Documents of a flow, for explaining.
  virtual Result<FlowState> documents(const FlowId& flow) = 0;
  /// A flow's main document as the request `recover` would write it. Errc::not_found, usage, io.
  virtual Result<Rebuilt> rebuilt(const FlowId& flow) = 0;
  /// What the last step decided to start and stop (also in a rehearsal, where nothing was done).
  virtual const Plan& plan() const = 0;
  /// The disk of the journal is full: supervising only.
  virtual bool disk_full() const = 0;
  /// What a rehearsal cannot find out by itself.
  virtual DaemonState said() const = 0;
};

}  // namespace baton
