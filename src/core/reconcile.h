#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
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

/// One flow as reconcile sees it. References must outlive the call.
struct FlowSituation {
  const FlowId& flow;
  const Decision& decision;
  const std::map<Subject, StageState>& stages;
  std::span<const Run>
      runs;  ///< all live ones, those of present generations, those of the last hour
  Control control = Control::run;  ///< the operator's
  Word control_reason;
  std::string control_why;
  Time resumed_at{};         ///< the hourly budget counts from here at the earliest
  std::optional<Hold> held;  ///< the flow may start nothing, whatever it desires
};

struct Situation {
  std::vector<FlowSituation> flows;
  Time now{};
  Time since{};  ///< from when on this daemon has watched; its clock may not fit what was before
  std::uint32_t max_running = 4;
  std::uint32_t running_elsewhere = 0;  ///< on the daemon's other roots
  std::uint32_t spawns_per_hour = 60;
  OnInterrupted on_interrupted = OnInterrupted::hold;
  std::optional<Hold> held;  ///< nothing may be started at all: draining, disk full ...
  RetryLimits retry;
  std::map<Role, RetryLimits> role_retry;
  std::map<Role, std::string> unusable_roles;  ///< role → why; a role in neither list is missing
  std::set<Role> usable_roles;
  bool default_role = false;           ///< `default` stands in for missing ones
  std::map<Key, std::string> refused;  ///< what cannot be started as it stands → why
};

/// The difference between what is desired and what the runs say has been done.
struct Plan {
  std::vector<Start> starts;
  std::vector<Stop> stops;
  std::vector<PauseFlow> pauses;
  std::map<FlowId, std::vector<Hold>> holds;  ///< why what is desired is not started
  /// Desired with `counts_refusal`, and due, and cannot be started → why.
  std::map<FlowId, std::map<Key, std::string>> refused;
  std::set<FlowId> wanting;  ///< flows with something that would start if there were room
  std::set<FlowId> failed;   ///< flows that need a person: attempts used up, budget spent ...
  std::optional<Time> wake;  ///< the earliest time at which the answer differs
  bool waiting = false;      ///< something will be started later without anybody's doing
};

/// Pure; shared by all dialects. Asking twice with the starts entered as runs gives nothing.
Plan reconcile(const Situation& situation);

/// The wait before a further attempt after `failures` failed ones: doubled each time, capped, with
/// up to 20 % added or taken, decided by the id of the last run.
Millis backoff_delay(const RetryLimits& limits, std::uint32_t failures, const RunId& last);

}  // namespace baton
