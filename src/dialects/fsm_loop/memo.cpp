#include "dialects/fsm_loop/memo.h"

#include "dialects/member_list.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

namespace {

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

template <class AnyWork, class Visit>
void visit_members(AnyWork& work, const Visit& visit) {
  visit("action", work.action);
  visit("tries", work.tries);
  visit("api_tries", work.api_tries);
  visit("infra_tries", work.infra_tries);
  visit("announced", work.announced);
  visit("until_ms", work.until_ms);
  visit("waits_since_ms", work.waits_since_ms);
  visit("beat_ms", work.next_wait_event_ms);
  visit("summary", work.summary);
  visit("limit", work.limit);
  visit("asked", work.asked);
  visit("model", work.model);
}

template <class AnyMemo, class Visit>
void visit_memo(AnyMemo& memo, const Visit& visit) {
  visit("driven", memo.owned);
  visit("start", memo.start);
  visit("resumes", memo.resumes);
  visit("stage", memo.stage);
  visit("scoped", memo.scope_claimed);
  visit("stopped_ms", memo.stopped_ms);
  visit("spawn", memo.spawn);
  visit("spawned", memo.spawned);
  visit("scope", memo.scope);
  visit("dealt", memo.dealt);
}

Json json_of(const Work& work) {
  Json root = Json::object({{"step", kStep.at(static_cast<std::size_t>(work.step)).word}});
  visit_members(work, MemberWriter(root, true));
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
  visit_members(work, MemberReader(root));
  if (const Value* const result = json::child(root, "result"))
    work.result = result_of(*result);
  if (const Value* const previous = json::child(root, "previous"))
    work.previous = Json(*previous);
  return work;
}

}  // namespace

Memo memo_of(const Json& json, const Record& own) {
  Memo memo;
  visit_memo(memo, MemberReader(*json));
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
  Json root = Json::object();
  visit_memo(memo, MemberWriter(root));
  return root.set("frames", frames);
}

}  // namespace baton::fsm_loop
