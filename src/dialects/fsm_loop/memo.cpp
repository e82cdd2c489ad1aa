#include "dialects/fsm_loop/memo.h"

#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {
namespace {

std::vector<std::string> texts_in(const Value& root, std::string_view name) {
  std::vector<std::string> all;
  if (const Value* const list = json::child(root, name); list != nullptr && list->IsArray())
    for (const Value& each : list->GetArray())
      all.emplace_back(json::text(each).value_or(""));
  return all;
}

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts)
    list.push(text);
  return list;
}

Json json_of(const ActionResult& result) {
  return Json::object({{"exit_code", result.exit_code},
                       {"output", result.output},
                       {"error_output", result.error_output},
                       {"duration_ms", result.duration_ms},
                       {"timeout_kind", result.timeout_kind},
                       {"not_run", result.not_run}});
}

ActionResult result_of(const Value& root) {
  return ActionResult{static_cast<int>(count_of(root, "exit_code")),
                      text_of(root, "output"),
                      text_of(root, "error_output"),
                      count_of(root, "duration_ms"),
                      text_of(root, "timeout_kind"),
                      text_of(root, "not_run")};
}

Json json_of(const Work& work) {
  Json root = Json::object({{"step", kStep.at(static_cast<std::size_t>(work.step)).word},
                            {"action", work.action},
                            {"tries", work.tries},
                            {"api_tries", work.api_tries},
                            {"infra_tries", work.infra_tries},
                            {"announced", work.announced},
                            {"until_ms", work.until_ms},
                            {"waits_since_ms", work.waits_since_ms},
                            {"beat_ms", work.beat_ms},
                            {"summary", work.summary},
                            {"limit", work.limit}});
  if (!work.asked.empty())
    root.set("asked", work.asked).set("model", work.model);
  if (work.result)
    root.set("result", json_of(*work.result));
  if (work.previous)
    root.set("previous", *work.previous);
  return root;
}

Work work_of(const Value& root) {
  Work work;
  if (const StepRow* const row = row_of(kStep, text_of(root, "step")))
    work.step = row->step;
  work.action = text_of(root, "action");
  work.tries = count_of(root, "tries");
  work.api_tries = count_of(root, "api_tries");
  work.infra_tries = count_of(root, "infra_tries");
  work.announced = text_of(root, "announced");
  if (const Value* const result = json::child(root, "result"))
    work.result = result_of(*result);
  work.asked = text_of(root, "asked");
  work.model = text_of(root, "model");
  if (const Value* const previous = json::child(root, "previous"))
    work.previous = Json(*previous);
  work.until_ms = count_of(root, "until_ms");
  work.waits_since_ms = count_of(root, "waits_since_ms");
  work.beat_ms = count_of(root, "beat_ms");
  work.summary = json::boolean(root, "summary").value_or(false);
  work.limit = text_of(root, "limit");
  return work;
}

}  // namespace

Memo memo_of(const Json& json, const Record& own) {
  Memo memo;
  memo.driven = json::boolean(*json, "driven").value_or(false);
  memo.start = text_of(*json, "start");
  memo.resumes = count_of(*json, "resumes");
  memo.stage = text_of(*json, "stage");
  memo.scoped = json::boolean(*json, "scoped").value_or(false);
  memo.stopped_ms = count_of(*json, "stopped_ms");
  memo.spawn = text_of(*json, "spawn");
  memo.spawned = text_of(*json, "spawned");
  memo.dealt = texts_in(*json, "dealt");
  memo.scope = texts_in(*json, "scope");
  const Value* const frames = json::child(*json, "frames");
  if (frames == nullptr || !frames->IsArray())
    return memo;
  for (const Value& each : frames->GetArray()) {
    Frame& frame = memo.frames.emplace_back();
    if (const Value* const definition = json::child(each, "definition"))
      frame.definition = Json(*definition);
    if (const Value* const work = json::child(each, "work"))
      frame.work = work_of(*work);
    if (const Value* const memory = json::child(each, "memory"); memory && memory->IsObject())
      frame.memory = Json(*memory);
    frame.since_ms = count_of(each, "since_ms");
    const Value* const record = json::child(each, "record");
    frame.record = record == nullptr ? own : record_of(*record);
  }
  return memo;
}

Json json_of(const Memo& memo) {
  Json frames = Json::array();
  for (std::size_t i = 0; i < memo.frames.size(); ++i) {
    const Frame& frame = memo.frames[i];
    Json one = Json::object({{"definition", frame.definition},
                             {"work", json_of(frame.work)},
                             {"memory", frame.memory},
                             {"since_ms", frame.since_ms}});
    if (i > 0)
      one.set("record", json_of(frame.record, nullptr));
    frames.push(one);
  }
  return Json::object({{"driven", memo.driven},
                       {"start", memo.start},
                       {"resumes", memo.resumes},
                       {"stage", memo.stage},
                       {"scoped", memo.scoped},
                       {"stopped_ms", memo.stopped_ms},
                       {"spawn", memo.spawn},
                       {"spawned", memo.spawned},
                       {"scope", list_of(memo.scope)},
                       {"dealt", list_of(memo.dealt)},
                       {"frames", frames}});
}

}  // namespace baton::fsm_loop
