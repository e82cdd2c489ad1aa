#pragma once

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

/// The engine on a root as it stands now, deciding only: what a daemon would see and do, together
/// with what the journal remembers. Nothing is started, written or locked.
class Rehearsal : private Pinned {
 public:
  struct Options {
    bool as_daemon = false;  ///< as if a daemon began now; else starts are held while there is none
    bool act_on_existing = false;
    std::uint32_t running_elsewhere = 0;  ///< besides what runs on the roots it shares limits with
  };
  /// The root of the context. A root no daemon has served yet has no journal, which is no error.
  /// Errc::denied: the journal is not for this user; config, io.
  static Result<std::unique_ptr<Rehearsal>> of_root(const Context& context, Options options);
  static Result<std::unique_ptr<Rehearsal>> of_root(const Context& context) {
    return of_root(context, Options());
  }
  /// One document by itself, as if it stood in its place and the others were absent.
  static Result<std::unique_ptr<Rehearsal>> of_document(const Context& context,
                                                        const KindChoice& choice,
                                                        const std::string& path,
                                                        const std::string& text);
  ~Rehearsal();

  const FlowRecords& records() const;
  const Plan& plan() const;
  const Catalog& catalog() const;
  /// The operator's word for the whole root.
  ControlRow root_control() const;
  /// nullptr: the flow is not known.
  const FlowRecord* record(const FlowId& flow) const;
  /// What the running daemon says; nothing when none runs.
  const std::optional<DaemonStatus>& daemon() const { return daemon_; }
  /// Requests that wait for the next daemon, the oldest first; what the rehearsal says is as if one
  /// had dealt with them. None while a daemon lives.
  const std::vector<Request>& recorded() const { return recorded_; }
  /// Reads a file the way the daemon does.
  Result<FileBytes> read(const std::string& path) const;

  std::vector<FlowId> flows() const;
  /// A flow's main document as `recover` would write it; see Engine::rebuilt.
  Result<Rebuilt> rebuilt(const FlowId& flow) const;

 private:
  struct World;
  explicit Rehearsal(std::unique_ptr<World> world);
  Result<void> run(Setup setup, std::uint32_t running_elsewhere, bool as_daemon);
  /// The same, with the journal held still.
  Result<void> play(Setup setup, std::uint32_t running_elsewhere, bool as_daemon);

  std::unique_ptr<World> world_;
  std::optional<DaemonStatus> daemon_;
  std::vector<Request> recorded_;
};

/// A root a command is about, and its rehearsal.
struct RehearsedRoot {
  Context context;
  std::unique_ptr<Rehearsal> rehearsal;
};
/// All roots of the context, for who acts upon a flow: one whose state cannot be seen may have the
/// one that is meant. Errors as of `of_root`.
Result<std::vector<RehearsedRoot>> rehearse(const Context& context);

/// Those that can be seen, for who only looks; a warning names the others. Errors as above, where
/// there is none.
Result<std::vector<RehearsedRoot>> rehearse_seen(const Context& context);

/// Those about this flow, or about the whole root.
std::vector<Request> of_flow(const std::vector<Request>& recorded, const FlowId& flow);
/// They are recorded for the next daemon, as a sentence; "" of none.
std::string recorded_text(const std::vector<Request>& recorded);

/// What is to be said where no configuration is in force.
std::string without_configuration(const std::optional<DaemonStatus>& daemon);

/// A flow, and which of several roots has it.
struct FlowPlace {
  std::size_t root = 0;
  FlowId flow;
};
/// What is known of one root.
struct KnownFlows {
  std::string root;
  std::vector<FlowId> flows;
};
/// The flow somebody means: `dialect/name`, or a name that is unique. Errc::usage with the list, or
/// with the roots when several have it.
Result<FlowPlace> choose_flow(const std::string& name, const std::vector<KnownFlows>& known);
Result<FlowPlace> choose_flow(const std::string& name, const std::vector<RehearsedRoot>& roots);

}  // namespace baton
