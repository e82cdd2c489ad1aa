#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"
#include "core/flow.h"

namespace baton::agent_run {

/// What baton remembers of one step besides the run state.
struct StepMemo {
  RunId run;                   ///< the start the run state speaks of; empty: none
  std::string label;           ///< of that start: `i0a1x3`, iteration, attempt, execution
  std::int64_t failed_ms = 0;  ///< when the last attempt failed, on baton's clock
  std::string gate;            ///< the gate has failed and the work is to be sent back: why
  std::int64_t gate_ms = 0;    ///< when that was seen
  std::string reason;          ///< why the work came back to this step, for its agent
  bool operator==(const StepMemo&) const = default;
};

/// The dialect's private memory of a run; journalled.
struct Memo {
  bool driven = false;  ///< begun or taken over by baton; else somebody else's, only looked at
  std::map<std::string, StepMemo, std::less<>> steps;
  bool operator==(const Memo&) const = default;
};

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::agent_run
