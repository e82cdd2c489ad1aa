#include "dialects/agent_run/memo.h"

namespace baton::agent_run {

Memo memo_of(const Json& json) {
  Memo memo;
  memo.driven = json::boolean(*json, "driven").value_or(false);
  const Value* const steps = json::child(*json, "steps");
  if (steps == nullptr || !steps->IsObject())
    return memo;
  for (const auto& member : steps->GetObject()) {
    const auto text = [&](std::string_view name) {
      return std::string(json::text(member.value, name).value_or(""));
    };
    StepMemo& step =
        memo.steps[std::string(member.name.GetString(), member.name.GetStringLength())];
    step = StepMemo{text("run"),
                    text("label"),
                    json::integer(member.value, "failed_ms").value_or(0),
                    text("gate"),
                    json::integer(member.value, "gate_ms").value_or(0),
                    text("reason")};
  }
  return memo;
}

Json json_of(const Memo& memo) {
  Json steps = Json::object();
  for (const auto& [id, step] : memo.steps)
    if (step != StepMemo{})
      steps.set(id, Json::object({{"run", step.run},
                                  {"label", step.label},
                                  {"failed_ms", step.failed_ms},
                                  {"gate", step.gate},
                                  {"gate_ms", step.gate_ms},
                                  {"reason", step.reason}}));
  return Json::object({{"driven", memo.driven}, {"steps", steps}});
}

}  // namespace baton::agent_run
