#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::agent_run {

/// What baton remembers of one step besides the run state.
struct StepMemo {
  RunId run;                        ///< the start the run state speaks of; empty: none
  std::string label;                ///< of that start, see next_label
  std::vector<std::string> labels;  ///< in use already, without their `x` part
  std::int64_t failed_ms = 0;       ///< when the last attempt failed, on baton's clock
  std::string gate;                 ///< the gate has failed and the work is to be sent back: why
  std::int64_t gate_ms = 0;         ///< when that was seen
  std::string reason;               ///< why the work came back to this step, for its agent
  RunId early;                      ///< a start whose report was taken while it was still at work
  std::int64_t report_ms = 0;  ///< when the report of a start that is still at work was seen first
  /// When it was first seen that the start has ended and left no report; 0: it has not.
  std::int64_t ended_ms = 0;
  bool cancelled = false;  ///< SKIPPED because the run was stopped; `baton resume` undoes it
  bool operator==(const StepMemo&) const = default;
};

/// The dialect's private memory of a run; journalled.
struct Memo {
  bool driven = false;  ///< begun or taken over by baton; else somebody else's, only looked at
  std::map<std::string, StepMemo, std::less<>> steps;
  /// Requests that have been dealt with and may still be shown: deciding goes in rounds.
  std::vector<std::string> heard;
  std::string cost_day;  ///< `2026-01-22`, UTC
  double cost_usd = 0;   ///< what the reports of that day say
  bool operator==(const Memo&) const = default;
};

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::agent_run
