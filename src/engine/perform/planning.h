#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/setup.h"
#include "core/catalog.h"
#include "core/reconcile.h"
#include "engine/intake/document_store.h"
#include "engine/intake/moved_files.h"
#include "engine/perform/pending_writes.h"
#include "engine/perform/start_command.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What besides the flows bears on what may be started: how the daemon itself is.
struct PlanningContext {
  const FlowRecords& records;
  const std::vector<Request>& requests;
  const PendingWrites& pending_writes;
  Time since{};              ///< of Situation
  bool decide_all = false;   ///< every flow of the root is decided in this step
  bool first_start = false;  ///< the journal knew nothing of this root
  bool draining = false;
  bool given_up = false;  ///< the root alone
  bool disk_full = false;
  std::uint32_t running_elsewhere = 0;
  std::string blind;              ///< that the root cannot be looked at, and why
  std::optional<Time> try_again;  ///< nothing is started until then, because of `trouble`
  std::string trouble;
  /// Files that do not parse or cannot be read and may be being written.
  std::map<FlowId, std::vector<std::string>> being_written;
  /// Agents that work on files which other flows have by now.
  const std::vector<AgentElsewhere>& elsewhere;
};

/// Step 8 of the one path: all flows together, with what stands against starting anything, become
/// one plan whose starts are ready to be prepared.
class Planning {
 public:
  Planning(const Setup& setup, const Catalog& catalog, DocumentStore& documents)
      : setup_(setup), catalog_(catalog), documents_(documents), agents_(setup.agents) {}

  /// Somebody points baton at a root full of old files: what would be started is held until a
  /// person has looked, lest a hundred agents be started for work long done. The flows that have
  /// to be decided once more: they were only looked at, or are let go now.
  std::set<FlowId> hold_existing(Draft& next, const PlanningContext& now);

  /// Why nothing at all may be started now.
  /// Roles that cannot be started, and why.
  std::map<Role, std::string> unusable() const;
  std::optional<Hold> held(const PlanningContext& now) const;

  /// What is to be started, with all that its start needs. What cannot be started as it stands (a
  /// subject that would be an option) must not take the place of something that can: it is refused,
  /// and everything is reconciled without it. The same with a role whose program can no longer be
  /// started; it is looked at again whenever it is wanted. Errc::io when the journal's copies
  /// cannot be read. The launches of the plan's starts, one each.
  Result<std::vector<Launch>> settle(Draft& next, const PlanningContext& now);
  /// As it was settled last.
  const Plan& plan() const { return reconciler_.made(); }

  /// Leaves runs out of what the plan stops.
  void spare(const std::function<bool(const RunId&)>& run);
  /// Has the plan stop everything that runs, and nothing else.
  void stop_all(const Draft& next, const FlowRecords& records, const std::string& why);
  /// What turned up when the plan was carried out: a hold until the next one.
  void hold(const Key& what, Word reason, std::string why);
  void could_not_start(const std::vector<Start>& starts, const std::string& why);

  /// Remembers why things are not started, and says the lasting reasons once.
  void note_holds(Draft& next) const;
  /// To be called before the books become what the draft says.
  void committed(const Draft& next);

 private:
  using Refused = std::map<Key, std::string>;
  using Agents = std::map<Role, AgentSpec>;
  void reconcile(const Draft& next, const PlanningContext& now, const Refused& refused,
                 std::optional<Hold> held);
  PlanSettings settings(const PlanningContext& now, std::optional<Hold> held) const;
  void give(const std::set<FlowId>& flows, const Draft& next, const PlanningContext& now,
            const Refused& refused);
  Result<std::vector<Launch>> plan(Draft& next, const PlanningContext& now,
                                   const std::optional<Hold>& held, Refused& refused,
                                   std::set<Role>& looked);
  Result<Launch> launch(Draft& next, const PlanningContext& now, const Start& start);
  Agents::iterator agent_of(const Role& role);
  bool renew_wanted(const Plan& plan, std::set<Role>& looked);
  bool renew(const Role& role, std::set<Role>& looked);

  const Setup& setup_;
  const Catalog& catalog_;
  DocumentStore& documents_;
  Agents agents_;  ///< as they were found when they were last wanted
  Reconciler reconciler_;
  std::optional<ControlRow> root_;  ///< the operator's word for everything, as it was given last
  /// Flows the reconciler has otherwise than they are in the books.
  std::set<FlowId> stale_;
};

/// Enters what the plan wants to stop or pause; starts are entered when they are prepared.
void enter(Draft& next, const FlowRecords& records, const FlowIndex& flow_index, const Plan& plan);

}  // namespace baton
