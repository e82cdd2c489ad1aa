#include "dialects/agent_run/memo.h"

#include "dialects/agent_run/workflow.h"

namespace baton::agent_run {

Memo memo_of(const Json& json) {
  Memo memo;
  memo.driven = json::boolean(*json, "driven").value_or(false);
  memo.heard = listed(json::child(*json, "heard"));
  memo.cost_day = json::text(*json, "cost_day").value_or("");
  if (const Value* const cost = json::child(*json, "cost_usd"); cost != nullptr && cost->IsNumber())
    memo.cost_usd = cost->GetDouble();
  const Value* const steps = json::child(*json, "steps");
  if (steps == nullptr || !steps->IsObject())
    return memo;
  for (const auto& member : steps->GetObject()) {
    const auto text = [&](std::string_view name) {
      return std::string(json::text(member.value, name).value_or(""));
    };
    StepMemo& step = memo.steps[std::string(json::name(member.name))];
    step = StepMemo{text("run"),
                    text("label"),
                    listed(json::child(member.value, "labels")),
                    json::integer(member.value, "failed_ms").value_or(0),
                    text("gate"),
                    json::integer(member.value, "gate_ms").value_or(0),
                    text("reason"),
                    text("early"),
                    json::integer(member.value, "report_ms").value_or(0),
                    json::integer(member.value, "ended_ms").value_or(0),
                    json::boolean(member.value, "cancelled").value_or(false)};
  }
  return memo;
}

namespace {

Json list(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts)
    all.push(Json(text));
  return all;
}

}  // namespace

Json json_of(const Memo& memo) {
  Json steps = Json::object();
  for (const auto& [id, step] : memo.steps) {
    if (step == StepMemo{})
      continue;
    steps.set(id, Json::object({{"run", step.run},
                                {"label", step.label},
                                {"labels", list(step.labels)},
                                {"failed_ms", step.failed_ms},
                                {"gate", step.gate},
                                {"gate_ms", step.gate_ms},
                                {"reason", step.reason},
                                {"early", step.early},
                                {"report_ms", step.report_ms},
                                {"ended_ms", step.ended_ms},
                                {"cancelled", step.cancelled}}));
  }
  return Json::object({{"driven", memo.driven},
                       {"steps", steps},
                       {"heard", list(memo.heard)},
                       {"cost_day", memo.cost_day},
                       {"cost_usd", memo.cost_usd}});
}

}  // namespace baton::agent_run
