// SPDX-License-Identifier: Apache-2.0
#pragma once

// Step 8 of the one path (src/README.md): all flows together become one plan whose starts are ready
// to be prepared.
// It adds to core/reconcile.h what concerns the whole daemon: draining, a full disk, an unavailable
// root, pending writes, programs that cannot be started. Preparing and releasing the starts is in
// starter.h.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/setup.h"
#include "core/catalog.h"
#include "core/hours.h"
#include "core/reconcile.h"
#include "engine/intake/document_store.h"
#include "engine/intake/moved_files.h"
#include "engine/perform/pending_writes.h"
#include "engine/perform/start_command.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The state of the daemon, as far as it limits what may start.
struct PlanningContext {
  const FlowRecords& records;
  const std::vector<Request>& requests;
  const PendingWrites& pending_writes;
  Time since{};              ///< see PlanSettings::since
  bool decide_all = false;   ///< every flow of the root is decided in this step
  bool first_start = false;  ///< the journal knew nothing of this root
  bool draining = false;
  bool given_up = false;  ///< the configuration no longer names this root
  bool disk_full = false;
  std::uint32_t running_elsewhere = 0;
  bool away = false;              ///< the root is not there
  std::string blind;              ///< why the root cannot be looked at; "" if it can
  bool settling = false;          ///< not all files of the root have been looked at yet
  std::optional<Time> try_again;  ///< nothing is started until then, because of `trouble`
  std::string trouble;
  bool locked = false;  ///< `trouble`: another process locks what is needed
  std::string remedy;   ///< of `trouble`; empty: it may pass by itself
  /// Files that cannot be parsed or read and may still be being written, by flow.
  std::map<FlowId, std::vector<std::string>> being_written;
  /// Flows with changed files that baton has not looked at yet.
  const std::set<FlowId>& unread;
  /// Agents that work on files that belong to other flows by now.
  const std::vector<AgentElsewhere>& elsewhere;
  Time now{};
  std::vector<Parked> parked;  ///< providers without room, see core/provider_limits.h
  /// The runs that caps count; nullptr if they are unknown, and then nothing starts.
  const Counted* counted = nullptr;
  FlowCounts flows_elsewhere;  ///< of the other roots of the daemon
  Millis ahead{0};             ///< the wall clock minus `now`
  bool at_any_hour = false;    ///< plan as if all hours were open
};

/// Makes the plan of each step. It is a part of the configuration in force (configured_parts.h).
class Planning {
 public:
  Planning(const Setup& setup, const Catalog& catalog, DocumentStore& documents,
           const TimeZones& zones)
      : setup_(setup),
        catalog_(catalog),
        documents_(documents),
        agents_(setup.agents),
        hours_(setup.hours, zones) {}

  /// At the first start on a root full of old files, too many flows (Setup::max_existing) may want
  /// to start something. Holds them until a person has looked. Otherwise baton might start a
  /// hundred agents for work that is long done. Returns the flows to decide once more: they were
  /// only looked at, or were released now.
  std::set<FlowId> hold_existing(Draft& next, const PlanningContext& now);

  /// Roles whose agent cannot be started, and why.
  std::map<Role, AgentFault> unusable() const;
  /// Why nothing at all may start now; nothing if starts are allowed.
  std::optional<Hold> held(const PlanningContext& now) const;

  /// Makes the plan, and returns one launch for each of its starts. A start may be impossible as it
  /// stands, for example because a subject would be taken for an option. Such a start is refused
  /// and the plan is made again, so that it takes no place from another start.
  /// The same goes for a role whose program cannot be started. Such a role is checked again
  /// whenever a flow wants it. Errc::io: the journal cannot be read.
  Result<std::vector<Launch>> settle(Draft& next, const PlanningContext& now);
  /// How many flows this root has.
  const FlowCounts& flow_counts() const { return flow_counts_; }
  /// Whether a cap of more than one flow keeps something from starting.
  bool capped() const { return plan().capped || (sums_ && !over_.empty()); }
  /// When hours open for which something waits, by the wall clock.
  std::optional<Time> opens() const { return plan().waiting ? hours_.opens() : std::nullopt; }
  /// The last plan.
  const Plan& plan() const { return reconciler_.made(); }

  /// Removes stops from the plan if `run` is true for their run.
  void spare(const std::function<bool(const RunId&)>& run);
  /// Makes the plan stop all running agents.
  void stop_all(const Draft& next, const FlowRecords& records, const std::string& why);
  /// Holds the starts that the plan refuses. Only for a rehearsal: a daemon tells the dialect.
  void hold_refused();
  /// Adds a hold that turned up while the plan was performed. It lasts until the next plan.
  void hold(const Key& what, Reason reason, std::string why, std::string action = {});
  /// The same for starts that could not be prepared; they are tried again.
  void could_not_start(const std::vector<Start>& starts, const std::string& why);

  /// Enters into the flow records why agents do not start, and reports lasting reasons once.
  void note_holds(Draft& next) const;
  /// Call it before `Draft::publish`.
  void committed(const Draft& next);

 private:
  using Refused = std::map<Key, std::string>;
  using Agents = std::map<Role, AgentSpec>;
  void reconcile(const Draft& next, const PlanningContext& now, const Refused& refused,
                 std::optional<Hold> held);
  PlanSettings settings(const PlanningContext& now, std::optional<Hold> held);
  void give(const std::set<FlowId>& flows, const Draft& next, const PlanningContext& now,
            const Refused& refused);
  Result<std::vector<Launch>> plan(Draft& next, const PlanningContext& now,
                                   const std::optional<Hold>& held, Refused& refused,
                                   std::set<Role>& looked);
  static const Run* previous_run(const FlowRecord& record, const Start& start);
  Result<Launch> launch(Draft& next, const PlanningContext& now, const Start& start);
  Agents::iterator agent_of(const Role& role);
  CapSums* sums(const PlanningContext& now);
  void count_flows(const std::set<FlowId>& flows, const Draft& next);
  void take_flows(std::set<FlowId>& flows, const Draft& next, const PlanningContext& now);
  std::optional<CapReached> over_cap(const FlowId& flow, const PlanningContext& now) const;
  std::optional<Hold> too_many_flows(const FlowId& flow, const PlanningContext& now) const;
  void tell_caps(Draft& next) const;
  bool renew_wanted(const Plan& plan, const PlanningContext& now, std::set<Role>& looked);
  bool renew(const Role& role, std::set<Role>& looked);

  const Setup& setup_;
  const Catalog& catalog_;
  DocumentStore& documents_;
  Agents agents_;  ///< as they were when they were last checked
  HoursWatch hours_;
  Reconciler reconciler_;
  /// The sums of the caps, and of which rows and until when they are right.
  std::optional<CapSums> sums_;
  std::pair<const Counted*, std::uint64_t> summed_{};
  Time summed_at_{};
  std::vector<Role> without_cost_;  ///< see agents_without_cost
  std::set<FlowId> there_;          ///< flows whose files are there
  FlowCounts flow_counts_;          ///< of them
  FlowCounts taken_;                ///< the same without `over_`
  bool renamed_ = false;            ///< some flow's file had another name before
  std::set<FlowId> over_;           ///< flows that may not begin: there were too many already
  bool may_take_ = false;           ///< one of them may begin now
  FlowCounts elsewhere_;            ///< of other roots, in the last plan
  std::optional<ControlRow> root_;  ///< the operator's order for the root, in the last plan
  /// Flows to give to the reconciler again with the next plan.
  std::set<FlowId> stale_;
};

/// Enters the stops and pauses of the plan into the draft. `prepare` enters the starts.
void enter(Draft& next, const FlowRecords& records, const FlowIndex& flow_index, const Plan& plan);

}  // namespace baton
