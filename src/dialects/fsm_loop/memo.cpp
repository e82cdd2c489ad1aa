#include "dialects/fsm_loop/memo.h"

#include "dialects/kinds.h"
#include "dialects/memo_fields.h"

namespace baton::fsm_loop {

template <class Visit>
void fields(ActionResult& result, Visit visit) {
  visit("exit_code", result.exit_code);
  visit("output", result.output);
  visit("error_output", result.error_output);
  visit("duration_ms", result.duration_ms);
  visit("timeout_kind", result.timeout_kind);
  visit("not_run", result.not_run);
}

template <class Visit>
void fields(Work& work, Visit visit) {
  visit("step", work.step);
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
  visit("result", work.result);
  visit("earlier", work.previous);
}

/// Without the record, which for the first frame is the state file.
template <class Visit>
void fields(Frame& frame, Visit visit) {
  visit("definition", frame.definition);
  visit("work", frame.work);
  visit("memory", frame.memory);
  visit("since_ms", frame.since_ms);
}

/// Without the frames.
template <class Visit>
void fields(Memo& memo, Visit visit) {
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

Memo memo_of(const Json& json, const Record& own) {
  Memo memo;
  read_memo(*json, memo);
  for (const Value& each : items_in(*json, "frames")) {
    Frame& frame = memo.frames.emplace_back();
    read_memo(each, frame);
    const Value* const record = json::child(each, "record");
    frame.record = record == nullptr ? own : record_of(*record);
  }
  return memo;
}

Json json_of(const Memo& memo) {
  Json frames = Json::array();
  for (std::size_t i = 0; i < memo.frames.size(); ++i) {
    Json one = write_memo(memo.frames[i]);
    if (i > 0)
      one.set("record", json_of(memo.frames[i].record, nullptr));
    frames.push(one);
  }
  return write_memo(memo).set("frames", frames);
}

}  // namespace baton::fsm_loop
