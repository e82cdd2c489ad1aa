// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what to start and what to stop, over all flows of one root: desired runs minus the runs
// that exist, under limits and claims. The plan is a pure function of settings, flows and time.
// To keep a step cheap with thousands of flows, the reconciler keeps its answers. It recomputes
// them only for flows that changed, whose time has come, or that wait for a place or a resource
// that changed. tests/core/reconcile_test.cpp compares with a plan made from nothing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/caps.h"
#include "core/effect.h"
#include "core/flow_needs.h"
#include "core/flow_plan.h"

namespace baton {

/// What to do now.
struct Plan {
  std::vector<Start> starts;
  std::vector<Stop> stops;
  std::vector<PauseFlow> pauses;
  std::map<Role, std::uint32_t> attempts;     ///< how many attempts a role has
  std::uint32_t attempts_otherwise = 0;       ///< see `of_role`
  std::map<FlowId, std::vector<Hold>> holds;  ///< why desired runs are not started
  /// Runs desired with `counts_refusal` that are due and cannot be started, and why.
  std::map<FlowId, std::map<Key, std::string>> refused;
  std::set<FlowId> wanting;  ///< flows that would start something if there were a free place
  std::optional<Time> wake;  ///< the plan may change at that time
  bool waiting = false;      ///< something will start later by itself
  bool capped = false;       ///< a cap of more than one flow keeps something from starting
  /// Those of them with a window: name → why and until when.
  std::map<std::string, Hold> caps;
  bool operator==(const Plan&) const = default;
};

/// Makes plans, and keeps what it found out about each flow. Once the starts of a plan are entered
/// as runs, the next plan does not start them again.
class Reconciler {
 public:
  /// If the settings differ, every flow is looked at again.
  void put(PlanSettings settings);
  /// Sets a flow. Only `plan` reads what the flow refers to.
  void put(FlowSituation flow);
  void drop(const FlowId& id);

  /// `caps`: the sums of more than one flow; nullptr: there are no such caps. It must outlive the
  /// call, and has the starts of the plan in it afterwards.
  void plan(Time now, std::uint32_t running_elsewhere, CapSums* caps = nullptr);
  /// The last plan.
  const Plan& made() const { return plan_; }
  Plan& made() { return plan_; }
  /// Adds a hold that the engine found while it performed the plan. The next plan drops it.
  void hold(const FlowId& flow, Hold hold);

  /// Flows whose holds or failure may have changed since the last `mark_reported`.
  const std::set<FlowId>& news() const { return news_; }
  void mark_reported() { news_.clear(); }

 private:
  /// The order in which candidates get a place: by entry into the stage, then by flow, then in the
  /// order of the flow's decision.
  struct Position {
    Arrival entered = 0;
    FlowId flow;
    std::size_t nth = 0;  ///< index among the candidates of the flow
    auto operator<=>(const Position&) const = default;
  };
  using Holders = std::map<FlowId, std::uint32_t>;  ///< how often each flow holds a resource
  /// The last answer for a candidate.
  enum class Answer {
    unchecked,
    starts,
    everything_held,
    needs_others,
    claimed,
    spent,
    capped,
    no_place
  };
  struct Checked {
    std::vector<std::string> resources;  ///< the resources it claims
    Answer answer = Answer::unchecked;
    Hold hold = {};  ///< why it does not start; empty if it starts
  };
  struct Flow {
    FlowSituation situation;
    FlowPlan plan;
    std::vector<Checked> checked;  ///< one per candidate
  };

  std::set<Position>& positions(Answer answer) {
    return positions_.at(static_cast<std::size_t>(answer));
  }
  const std::set<Position>& positions(Answer answer) const {
    return positions_.at(static_cast<std::size_t>(answer));
  }
  void remove(const FlowId& id, Flow& flow);
  void enter(const FlowId& id, Flow& flow);
  void count_holder(const FlowId& id, const std::string& resource, bool more);
  Holders holders(const std::string& resource) const;
  void drop_planned_starts();
  void refresh_flows();
  void recheck_claimants(const std::string& resource, const Position& from);
  void recheck(const Position& turn);
  void recheck_all(Answer answer);
  std::optional<Position> next() const;
  void check(const Position& turn);
  std::pair<Answer, Hold> answer(const Flow& flow, const Candidate& candidate) const;
  std::optional<Hold> need_hold(const Flow& flow, const Candidate& candidate) const;
  void recheck_flows(const std::set<FlowId>& flows);
  void settle(const Position& turn, Answer answer, Hold hold);
  std::optional<Position> first_by_rank(const Position& turn) const;
  std::optional<Hold> flow_cap(const Flow& flow, const Candidate& candidate) const;
  CountedRun counted(const Candidate& candidate) const;
  void start(const Position& turn, const Flow& flow);
  void pause(const FlowId& id, const Hold& cap);
  bool has_free_place() const { return running_ + elsewhere_ < settings_.max_running; }
  void write(const FlowId& id);
  void sum_up();

  PlanSettings settings_;
  Plan plan_;
  Time now_{};
  std::uint32_t elsewhere_ = 0;
  std::uint32_t reported_running_ = 0;  ///< the number in the text of `no_place` holds

  std::map<FlowId, Flow> flows_;
  std::set<FlowId> stale_;    ///< flows to look at again
  std::set<FlowId> rewrite_;  ///< flows whose part of the plan has to be written again
  std::set<FlowId> news_;

  std::uint32_t running_ = 0;
  std::map<std::string, Holders> taken_;  ///< who holds each resource
  /// How the holders changed since the last plan.
  std::map<std::string, std::map<FlowId, std::int64_t>> holder_changes_;
  std::map<std::string, std::set<Position>> claimants_;  ///< who waits for each resource
  std::array<std::set<Position>, 8> positions_;          ///< all candidates, by answer
  FlowNeeds needs_;
  std::set<std::pair<Time, Position>> unknown_until_;  ///< who waits how long for an unknown flow
  /// By rule or dialect: its candidates with a rank, in their order.
  std::map<std::string, std::set<std::pair<double, Position>>> ranked_;
  std::set<std::pair<Time, FlowId>> wakes_;
  std::set<FlowId> stopping_;  ///< flows with runs to stop
  std::set<FlowId> waiting_;   ///< flows that wait for a time
  std::map<std::string, std::multiset<FlowId>>
      planned_claims_;                       ///< claimed by the starts of the plan
  std::map<FlowId, std::uint32_t> spawned_;  ///< starts in the plan under construction
  std::map<FlowId, std::uint32_t> acted_;    ///< shell actions in it
  CapSums* caps_ = nullptr;                  ///< during `plan`
};

}  // namespace baton
