// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the engine once on a root without writing, locking or starting anything. So `status`,
// `explain` and `--dry-run` show what a daemon sees and would do, by the same decisions.
// What only the running daemon knows comes from its status (workspace/daemon_status.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pinned.h"
#include "base/result.h"
#include "core/flow.h"
#include "engine/decide/status.h"
#include "engine/engine.h"
#include "workspace/context.h"
#include "workspace/daemon_status.h"
#include "workspace/kind_choice.h"

namespace baton {

/// The engine after one look at the files and the journal of a root.
class Rehearsal : private Pinned {
 public:
  struct Options {
    /// As if a daemon started now. Else nothing may start while no daemon runs.
    bool as_daemon = false;
    bool act_on_existing = false;
    /// Agents to count besides those that run on roots with the same limits.
    std::uint32_t running_elsewhere = 0;
    /// A request that comes after the recorded ones; its id does not matter.
    std::optional<Request> asked = std::nullopt;
  };
  /// Looks at the root of the context. A missing journal is no error: no daemon has served the root
  /// yet. Errc::denied: this user may not read the journal; config, io.
  static Result<std::unique_ptr<Rehearsal>> of_root(const Context& context, Options options);
  static Result<std::unique_ptr<Rehearsal>> of_root(const Context& context) {
    return of_root(context, Options());
  }
  /// Looks at one document, as if it were at this path and no other file existed.
  static Result<std::unique_ptr<Rehearsal>> of_document(const Context& context,
                                                        const KindChoice& choice,
                                                        const std::string& path,
                                                        const std::string& text);
  ~Rehearsal();

  const FlowRecords& records() const;
  const Plan& plan() const;
  const Catalog& catalog() const;
  /// What the operator ordered for the whole root.
  ControlRow root_control() const;
  /// nullptr: the flow is unknown.
  const FlowRecord* record(const FlowId& flow) const;
  /// The status of the running daemon; nothing if none runs.
  const std::optional<DaemonStatus>& daemon() const { return daemon_; }
  /// Requests that wait for the next daemon, oldest first. The rehearsal shows the state after
  /// them. Empty while a daemon runs.
  const std::vector<Request>& recorded() const { return recorded_; }
  /// The answer to `Options::asked`; nothing if it waits for something.
  std::optional<Reply> reply() const;
  /// Reads a file the way the daemon does.
  Result<FileBytes> read(const std::string& path) const;
  /// Why the daemon ignores a file whose path matches a pattern, such as `a backup (.bak)` or `a
  /// copy of a.json`. Empty: it does not.
  std::string ignored(const std::string& path) const;

  std::vector<FlowId> flows() const;
  /// The main document of a flow as `recover` would write it; see Engine::rebuilt.
  Result<Rebuilt> rebuilt(const FlowId& flow) const;

 private:
  struct World;
  explicit Rehearsal(std::unique_ptr<World> world);
  Result<void> run(Setup setup, std::uint32_t running_elsewhere, bool as_daemon);
  /// `run` without ending the snapshot of the journal.
  Result<void> play(Setup setup, std::uint32_t running_elsewhere, bool as_daemon);

  std::unique_ptr<World> world_;
  std::optional<DaemonStatus> daemon_;
  std::vector<Request> recorded_;
};

/// One root of a command and its rehearsal.
struct RehearsedRoot {
  Context context;
  std::unique_ptr<Rehearsal> rehearsal;
};
/// Rehearses all roots of the context, for commands that act on a flow. Fails if the state of one
/// root cannot be read, because that root may have the flow. Errors as for `of_root`.
Result<std::vector<RehearsedRoot>> rehearse(const Context& context);

/// The same for commands that only show something. Warns about a root whose state this user may not
/// read, and leaves it out. Fails if that leaves no root.
Result<std::vector<RehearsedRoot>> rehearse_seen(const Context& context);

/// The requests that concern this flow or the whole root.
std::vector<Request> of_flow(const std::vector<Request>& recorded, const FlowId& flow);
/// A sentence that lists the requests recorded for the next daemon; "" if there are none.
std::string recorded_text(const std::vector<Request>& recorded);

/// The message when a command has found no configuration.
std::string without_configuration(const std::optional<DaemonStatus>& daemon);

/// A flow and the index of its root.
struct FlowPlace {
  std::size_t root = 0;
  FlowId flow;
};
/// The known flows of one root.
struct KnownFlows {
  std::string root;
  std::vector<FlowId> flows;
};
/// Finds the flow that a name means: `dialect/name`, or the name alone, or the part of it behind a
/// slash, if that is unique. Errc::usage
/// lists the flows, or the roots if several roots have this flow.
Result<FlowPlace> choose_flow(const std::string& name, const std::vector<KnownFlows>& known);
Result<FlowPlace> choose_flow(const std::string& name, const std::vector<RehearsedRoot>& roots);

}  // namespace baton
