#include "dialects/agent_run/memo.h"

#include "dialects/memo_fields.h"

namespace baton::agent_run {

template <class Visit>
void fields(StepMemo& step, Visit visit) {
  visit("run", step.run);
  visit("label", step.label);
  visit("labels", step.labels);
  visit("failed_ms", step.failed_ms);
  visit("gate", step.gate);
  visit("gate_ms", step.gate_ms);
  visit("reason", step.reason);
  visit("early", step.early);
  visit("report_ms", step.report_ms);
  visit("ended_ms", step.ended_ms);
  visit("cancelled", step.cancelled);
}

template <class Visit>
void fields(Memo& memo, Visit visit) {
  visit("driven", memo.driven);
  visit("steps", memo.steps);
  visit("heard", memo.answered);
  visit("cost_day", memo.cost_day);
  visit("cost_usd", memo.cost_usd);
}

Memo memo_of(const Json& json) {
  Memo memo;
  read_memo(*json, memo);
  return memo;
}

Json json_of(Memo memo) {
  std::erase_if(memo.steps, [](const auto& row) { return row.second == StepMemo{}; });
  return write_memo(memo);
}

}  // namespace baton::agent_run
