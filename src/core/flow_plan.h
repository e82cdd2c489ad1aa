// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks at one flow by itself: which agents it wants, which of them have run, and what keeps the
// others from starting.
// It does not look at limits that flows share (running agents, claims); see reconcile.h. Everything
// here is a pure function.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/caps.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/flow_origin.h"
#include "core/hours.h"
#include "core/run.h"

namespace baton {

/// What to do with an interrupted attempt: the machine went down, or another program ended the
/// agent. The attempt may have done its work.
/// hold: the flow waits for a person. It has not failed.
/// retry: the attempt counts as failed. The next attempt follows after the back-off.
/// fail: the flow fails, even if attempts are left.
enum class OnInterrupted { hold, retry, fail };

/// What to do when an agent has ended well and has left the stage as it was.
/// hold: the flow waits for a person.
/// retry: the attempt counts as failed.
/// nudge: one further start, whose prompt says what is missing; then hold.
enum class OnNoChange { hold, retry, nudge };

/// One flow as the reconciler sees it. The references must stay valid and unchanged until the flow
/// is put again or dropped.
struct FlowSituation {
  const FlowId& flow;
  const Decision& decision;
  const std::map<Subject, StageState>& stages;
  /// Live runs, runs of present generations, and runs of the last hour, in the order of their
  /// starts.
  std::span<const Run> runs;
  Control control = Control::run;  ///< what the operator ordered
  Word control_reason;
  std::string control_why;
  Time resumed_at{};                        ///< starts and cost before this time do not count
  std::optional<Hold> held;                 ///< if set, the flow starts nothing
  bool tell_held = false;                   ///< report `held` even if nothing is desired
  std::string control_action = {};          ///< what lifts it; empty: `baton resume` of the flow
  std::map<Key, std::string> refused = {};  ///< what cannot be started, and why
  const FlowOrigin* origin = nullptr;       ///< nullptr: its files had no other names
};

/// Why the agent of a role cannot be started, and what a person can do about it.
struct AgentFault {
  std::string why;
  std::string action;  ///< see Standing
  bool operator==(const AgentFault&) const = default;
};

/// Limits and roles that are the same for all flows.
struct PlanSettings {
  Time since{};  ///< start of this daemon; earlier times may come from another clock
  std::uint32_t max_running = 4;
  std::uint32_t spawns_per_hour = 60;
  double cost_per_hour = 50;  ///< US dollars, as agents report them; 0 here and below: no limit
  std::int64_t tokens_per_hour = 0;
  std::uint32_t shell_per_hour = 0;
  std::map<std::string, FlowCaps> rules;  ///< of rules with caps of their own
  std::map<Role, std::string> providers;  ///< agent → provider
  OnInterrupted on_interrupted = OnInterrupted::hold;
  std::optional<Hold> held;  ///< if set, nothing starts at all: draining, disk full ...
  RetryLimits retry;
  std::map<Role, RetryLimits> role_retry;
  std::map<Role, AgentFault> unusable_roles;  ///< a role in neither list is missing
  std::map<Role, std::string> usable_roles;   ///< role → its program
  bool default_role = false;                  ///< the role `default` is used for missing roles
  /// Agents whose provider has no room now or refuses the login: agent → hold.
  std::map<Role, Hold> parked;
  ClosedHours closed;                           ///< what may not start at this time of day
  std::map<Role, OnNoChange> on_no_change;      ///< agents that are not in it: hold
  std::map<Role, std::vector<Role>> stand_ins;  ///< agent → agents that may stand in, in order
  bool operator==(const PlanSettings&) const = default;
};

/// A start that is allowed by everything that concerns its flow alone.
struct Candidate {
  const Desired* desired = nullptr;  ///< points into the flow's decision
  Key key;
  Role agent;  ///< see Start::agent
  std::optional<Hold> parked =
      {};  ///< of a stand-in: why the agents before it wait, if until a time
  std::uint32_t attempt = 1;
  Arrival entered = 0;
  std::optional<double> rank = {};  ///< Desired::rank
};

/// What follows from one flow alone, whatever other flows do.
struct FlowPlan {
  std::vector<std::string> resources;  ///< claimed by the flow and its live runs; may repeat
  std::uint32_t running = 0;           ///< live runs
  std::vector<Stop> stops;
  std::vector<Hold> holds;             ///< reasons that concern this flow alone
  std::map<Key, std::string> refused;  ///< see Plan::refused
  std::vector<Candidate> candidates;   ///< by entry into the stage, then in the order of `desired`
  std::optional<Time> wake;  ///< the plan is valid until then, if the flow does not change
  bool waiting = false;      ///< see Plan::waiting
};

/// The same arguments always give the same plan.
FlowPlan flow_plan_of(const FlowSituation& flow, const PlanSettings& settings, Time now);

/// How many runs of this role and subject in a row, the last ones that have ended, their provider
/// had no room for at the moment. A dialect may put work back under another key, so all keys count.
std::uint32_t transients_in_a_row(std::span<const Run> runs, const Key& key);

/// Whether the run has used up an attempt and failed.
bool is_failed_attempt(const Run& run);

/// How many attempts were stopped. Each has used up a number and is no failure, so that many more
/// attempts follow than the limit says.
std::uint32_t stopped_attempts(std::span<const Run> runs, const Key& key);

/// Whether the flow may start one more agent within this hour, besides `further` that are about to
/// start. A limit of 0 is none.
bool has_starts_left(const FlowSituation& flow, const PlanSettings& settings, Time now,
                     std::uint32_t further);
/// How many agents the flow may start per hour.
std::uint32_t starts_per_hour(const FlowSituation& flow, const PlanSettings& settings);
/// The caps of one flow in an hour, with those of its rule. 0: no limit.
struct HourlyCaps {
  double cost_usd = 0;
  std::int64_t tokens = 0;
  std::uint32_t shell = 0;
};
HourlyCaps hourly_caps(const FlowId& flow, const PlanSettings& settings);
/// Whether the cost reported by the flow's runs of the last hour is below the limit.
bool has_cost_left(const FlowSituation& flow, const PlanSettings& settings, Time now);
/// The same for tokens.
bool has_tokens_left(const FlowSituation& flow, const PlanSettings& settings, Time now);

/// Why a flow stands that an operator, an agent or baton itself has paused or stopped. `reason`:
/// that of the ControlRow.
Cause cause_of(Control control, const Word& reason);

inline constexpr std::string_view kPathClaim = "path:";
/// The resource of a claim, without a slash at the end of a path. The path `/` becomes empty.
std::string resource_of(const Claim& claim);

/// The wait before the next attempt after `failures` failed ones. It doubles each time up to the
/// maximum, and varies by up to 20 % depending on the id of the last run.
Millis backoff_delay(const RetryLimits& limits, std::uint32_t failures, const RunId& last);

}  // namespace baton
