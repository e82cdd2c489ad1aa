#pragma once

// What baton remembers of a run besides its run state. Kept in the journal, so that a restart goes
// on where the last decision stopped.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::agent_run {

/// Memory of one step.
struct StepMemo {
  RunId run;                        ///< the start that the run state describes; empty: none
  std::string label;                ///< label of that start, see next_label
  std::vector<std::string> labels;  ///< labels already used, without their `x` part
  std::int64_t failed_ms = 0;       ///< when the last attempt failed (baton's clock)
  std::string gate;            ///< reason of a failed gate; the work goes back in the next decision
  std::int64_t gate_ms = 0;    ///< when the failed gate was seen
  std::string reason;          ///< why the work came back to this step; told to its agent
  RunId early;                 ///< a start whose report was accepted while its agent still ran
  std::int64_t report_ms = 0;  ///< when the report of a running start was first seen
  /// When the end of the start was first seen; 0: it has not ended.
  std::int64_t ended_ms = 0;
  bool cancelled = false;  ///< SKIPPED because the run was stopped; `baton resume` undoes it
  bool operator==(const StepMemo&) const = default;
};

/// Memory of a run.
struct Memo {
  bool driven = false;  ///< baton drives the run; false: another program does, baton only shows it
  std::map<std::string, StepMemo, std::less<>> steps;
  /// Requests already answered. One decision takes several rounds and sees them again.
  std::vector<std::string> answered;
  std::string cost_day;  ///< `2026-01-22`, UTC
  double cost_usd = 0;   ///< sum of `cost_usd` in the reports of that day
  bool operator==(const Memo&) const = default;
};

Memo memo_of(const Json& json);
Json json_of(Memo memo);

}  // namespace baton::agent_run
