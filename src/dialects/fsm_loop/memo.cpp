// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/memo.h"

#include <algorithm>
#include <iterator>

#include "dialects/kinds.h"
#include "dialects/memo_fields.h"

namespace baton::fsm_loop {

template <class Visit>
void fields(Record& record, Visit visit) {
  visit("loop_name", record.loop_name);
  visit("current_state", record.current_state);
  visit("iteration", record.iteration);
  visit("captured", record.captured);
  visit("prev_result", record.prev_result);
  visit("last_result", record.last_result);
  visit("started_at", record.started_at);
  visit("updated_at", record.updated_at);
  visit("status", record.status);
  visit("phase", record.phase);
  visit("accumulated_ms", record.accumulated_ms);
  visit("cycle", record.cycle);
  visit("seq", record.seq);
  visit("continuation_prompt", record.continuation_prompt);
  visit("iteration_count", record.passes);
  visit("retry_counts", record.retries);
  visit("edge_revisit_counts", record.edges);
  visit("entry_counts", record.entries);
  visit("rate_limit_retries", record.rate_limits);
  visit("consecutive_rate_limit_exhaustions", record.exhaustions);
  visit("messages", record.messages);
  visit("context", record.context);
  visit("resumed_at", record.resumed_at);
  visit("resume_count", record.resume_count);
  visit("max_steps", record.max_steps);
  visit("ignore_unsupported", record.ignore_unsupported);
  visit("start", record.start);
  visit("archived", record.archived);
  visit("terminated_by", record.terminated_by);
  visit("limited_state", record.limited_state);
  visit("error", record.error);
}

namespace {

/// The last member that baton always writes. It writes the members after it only if they have
/// content.
constexpr std::string_view kLastFixed = "seq";

bool has_content(const Value& value) {
  if (value.IsString())
    return value.GetStringLength() > 0;
  if (value.IsBool())
    return value.GetBool();
  if (value.IsObject())
    return !value.ObjectEmpty();
  return value.IsArray() ? !value.Empty() : json::integer(value).value_or(0) != 0;
}

}  // namespace

Record record_of(const Value& state) {
  Record record;
  // A file without a phase comes from another program. Its action may or may not have run.
  record.phase = Phase::entered;
  read_memo(state, record);
  return record;
}

Json json_of(const Record& record, const Value* before) {
  Json root = before == nullptr ? Json::object() : Json(*before);
  const Json all = write_memo(record);
  bool fixed = true;
  for (const auto& member : all->GetObject()) {
    const std::string_view name = json::name(member.name);
    if (fixed || has_content(member.value))
      root.set(name, member.value);
    else
      root.erase(name);
    fixed = fixed && name != kLastFixed;
  }
  return root;
}

std::string_view last_bytes(std::string_view text, std::size_t bytes) {
  std::size_t begin = text.size() - std::min(text.size(), bytes);
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U)
    ++begin;
  return text.substr(begin);
}

void add_message(Record& record, std::string_view message) {
  std::vector<std::string>& all = record.messages;
  all.emplace_back(last_bytes(message, kMostMessages));
  std::size_t bytes = 0;
  auto first = all.end();
  while (first != all.begin() && bytes + std::prev(first)->size() <= kMostMessages)
    bytes += (--first)->size();
  all.erase(all.begin(), first);
}

void change_state(Record& record, const std::string& from, const std::string& to) {
  if (to == from) {
    ++record.retries[to];
  } else {
    record.retries.erase(from);
    record.entries.erase(from);
  }
  record.current_state = to;
  record.phase = Phase::routed;
}

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
void fields(ChildEnd& end, Visit visit) {
  visit("terminated_by", end.terminated_by);
  visit("failure", end.failure);
  visit("error", end.error);
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
  visit("child", work.child);
  visit("branch", work.branch);
  visit("worktree", work.worktree);
  visit("folder", work.folder);
  visit("end", work.end);
  visit("summary", work.summary);
  visit("limit", work.limit);
  visit("asked", work.asked);
  visit("model", work.model);
  visit("result", work.result);
}

template <class Visit>
void fields(Outcomes& outcomes, Visit visit) {
  visit("last", outcomes.last);
  visit("in_a_row", outcomes.in_a_row);
  visit("all", outcomes.all);
}

/// All members but the record. The record of the first frame is in the state file.
template <class Visit>
void fields(Frame& frame, Visit visit) {
  visit("definition", frame.definition);
  visit("work", frame.work);
  visit("memory", frame.memory);
  visit("outcomes", frame.outcomes);
  visit("since_ms", frame.since_ms);
}

/// All members but the frames; memo_of and json_of handle those.
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
  visit("last_run", memo.last_run);
  visit("stopped_by", memo.stopped_by);
  visit("stopper", memo.stopper);
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
