#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "core/effect.h"
#include "core/run.h"

namespace baton {

/// What to do with an attempt that may have run when the machine went down, or that somebody else
/// ended.
/// hold: the flow waits for a person, and has not failed.
/// retry: a failed attempt; the next one follows after the back-off, as long as there are some
/// left. fail: a failure for good; the flow has failed, whatever attempts are left.
enum class OnInterrupted { hold, retry, fail };

/// One flow as reconcile sees it. What it refers to must stay as it is until the flow is given
/// again or dropped.
struct FlowSituation {
  const FlowId& flow;
  const Decision& decision;
  const std::map<Subject, StageState>& stages;
  /// All live ones, those of present generations, those of the last hour; in the order of their
  /// starts.
  std::span<const Run> runs;
  Control control = Control::run;  ///< the operator's
  Word control_reason;
  std::string control_why;
  Time resumed_at{};                        ///< the hourly budget counts from here at the earliest
  std::optional<Hold> held;                 ///< the flow may start nothing, whatever it desires
  bool tell_held = false;                   ///< `held` is a hold also where nothing is desired
  std::map<Key, std::string> refused = {};  ///< what cannot be started as it stands → why
};

/// What besides the flows and the time decides what is to be done; the same for all flows.
struct Terms {
  Time since{};  ///< from when on this daemon has watched; its clock may not fit what was before
  std::uint32_t max_running = 4;
  std::uint32_t spawns_per_hour = 60;
  double cost_per_hour = 50;  ///< US dollars, as agents report them
  OnInterrupted on_interrupted = OnInterrupted::hold;
  std::optional<Hold> held;  ///< nothing may be started at all: draining, disk full ...
  RetryLimits retry;
  std::map<Role, RetryLimits> role_retry;
  std::map<Role, std::string> unusable_roles;  ///< role → why; a role in neither list is missing
  std::set<Role> usable_roles;
  bool default_role = false;  ///< `default` stands in for missing ones
  bool operator==(const Terms&) const = default;
};

/// A start that nothing but room stands against.
struct Candidate {
  const Desired* desired = nullptr;  ///< of the flow's decision
  Key key;
  std::uint32_t attempt = 1;
  Arrival entered = 0;
};

/// What a flow comes to by itself, whatever all others do.
struct Share {
  std::vector<std::string> resources;  ///< what the flow and its live runs hold, each time
  std::uint32_t running = 0;           ///< live runs
  std::vector<Stop> stops;
  std::vector<Hold> holds;             ///< the reasons that have nothing to do with room
  std::map<Key, std::string> refused;  ///< of Plan
  std::vector<Candidate> candidates;   ///< by the entry into the stage, then as desired
  std::optional<Time> wake;            ///< until then it stays as it is, if the flow does
  bool failed = false;                 ///< of Plan
  bool waiting = false;                ///< of Plan
};

/// Pure; as of `now`.
Share share_of(const FlowSituation& flow, const Terms& terms, Time now);

/// Whether the flow's hourly budget allows one more agent beside `further` that are about to start.
bool budget_left(const FlowSituation& flow, const Terms& terms, Time now, std::uint32_t further);
/// How many agents it allows.
std::uint32_t budget_of(const FlowSituation& flow, const Terms& terms);
/// Whether what the flow's runs of the hour have reported leaves something of what they may cost.
bool money_left(const FlowSituation& flow, const Terms& terms, Time now);

/// Reasons of a pause of baton's own making. It needs a person.
inline constexpr std::string_view kSpawnsPerHour = "spawns_per_hour";
inline constexpr std::string_view kCostPerHour = "cost_per_hour";
inline bool at_cap(const Word& reason) {
  return reason == kSpawnsPerHour || reason == kCostPerHour;
}

inline constexpr std::string_view kPathClaim = "path:";
/// What a claim is about. Paths are compared without a slash at their end; the topmost one is empty
/// then.
std::string resource_of(const Claim& claim);

/// The wait before a further attempt after `failures` failed ones: doubled each time, capped, with
/// up to 20 % added or taken, decided by the id of the last run.
Millis backoff_delay(const RetryLimits& limits, std::uint32_t failures, const RunId& last);

}  // namespace baton
