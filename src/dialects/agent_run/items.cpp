// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/decide.h"

namespace baton::agent_run {
namespace {

/// An item that `baton stop` left out is not done.
bool is_done(const Snapshot& snapshot, const Step& item) {
  return snapshot.record(item.id).done() && !snapshot.step_memo(item.id).cancelled;
}

/// Why the items send the work back; empty: they do not.
std::string gate_failures(const Snapshot& snapshot, const std::vector<const Step*>& items) {
  constexpr std::string_view kFront = "Gate failure: ";
  std::vector<std::string> all;
  for (const Step* const item : items)
    if (const auto& failure = snapshot.record(item->id).last_gate_failure)
      all.push_back(item->id + ": " +
                    (failure->starts_with(kFront) ? failure->substr(kFront.size()) : *failure));
  return join(all, "; ");
}

void add_artifacts(StepRecord& record, const StepRecord& item) {
  for (const Value& path : item.artifacts->GetArray())
    if (std::none_of(record.artifacts->Begin(), record.artifacts->End(),
                     [&](const Value& known) { return json::equal(known, path); }))
      record.artifacts.push(Json(path));
}

bool is_item_of(const std::string& id, const Step& step) {
  return id.size() > step.id.size() + 1 && id.starts_with(step.id + ".") &&
         std::all_of(id.begin() + static_cast<std::ptrdiff_t>(step.id.size() + 1), id.end(),
                     is_digit);
}

}  // namespace

void begin_items(Snapshot& snapshot, const Step& step) {
  StepRecord& record = snapshot.record(step.id);
  record.status = Status::running;
  record.attempts = 1;
  ++record.executions;
  record.started_at = stamp(snapshot.view.wall);
  record.ended_at.reset();
  const std::size_t count = item_count(step, record);
  for (std::size_t i = 0; i < count; ++i) {
    StepRecord& item = snapshot.run.steps[item_id(step.id, i)];
    item.reset();
    item.iterations = record.iterations;
    item.last_gate_failure.reset();
    // A run that went through them one after the other has done these.
    if (static_cast<std::int64_t>(i) < record.loop_index)
      item.status = Status::skipped;
    StepMemo& memo = snapshot.memo.steps[item_id(step.id, i)];
    memo.run.clear();
    memo.failed_ms = 0;
    memo.cancelled = false;
    memo.early.clear();
  }
}

void advance_items(Snapshot& snapshot, const Step& step, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  if (!is_parallel(step) || record.status != Status::running || record.loop_items.is_null())
    return;
  const std::vector<const Step*> items = items_of(snapshot, step);
  const auto failed = std::find_if(items.begin(), items.end(), [&](const Step* item) {
    return snapshot.record(item->id).status == Status::failed;
  });
  if (failed != items.end()) {
    const StepRecord& item = snapshot.record((*failed)->id);
    return fail_for_good(
        snapshot, step, item.last_error_code.value_or("agent_reported"),
        "the item " + (*failed)->id + " has failed: " + item.last_error.value_or("no reason given"),
        decision);
  }
  if (items.empty() || !std::all_of(items.begin(), items.end(),
                                    [&](const Step* item) { return is_done(snapshot, *item); }))
    return;
  for (const Step* const item : items)
    add_artifacts(record, snapshot.record(item->id));
  record.loop_index = static_cast<std::int64_t>(items.size());
  record.loop_completed = true;
  Report report;
  report.completed = true;
  report.ended_at = stamp(snapshot.view.wall);
  if (const std::string why = gate_failures(snapshot, items); !why.empty() && step.loop_back_to) {
    record.ended_at = report.ended_at;
    return fail_gate(snapshot, step, why, decision);
  }
  finish(snapshot, step, report, decision);
}

void leave_out_items(Snapshot& snapshot) {
  for (const Step& step : snapshot.workflow->steps()) {
    if (!is_parallel(step) || !snapshot.record(step.id).loop_items.is_null())
      continue;
    for (auto& [id, item] : snapshot.run.steps)
      if (is_item_of(id, step) && !item.done())
        item.status = Status::skipped;
  }
}

bool has_place(const Snapshot& snapshot, const Step& item, const Decision& decision) {
  const Step& step = *snapshot.workflow->step(item.of);
  std::size_t busy = 0;
  for (const Step* const each : items_of(snapshot, step)) {
    const bool wanted =
        std::any_of(decision.desired.begin(), decision.desired.end(),
                    [&](const Desired& desired) { return desired.subject == each->id; });
    if (wanted || snapshot.record(each->id).status == Status::running ||
        snapshot.live(each->id) != nullptr)
      ++busy;
  }
  return busy < parallel(step);
}

void resume_items(Snapshot& snapshot, const Step& step) {
  StepRecord& record = snapshot.record(step.id);
  record.status = Status::running;
  record.ended_at.reset();
  record.last_error.reset();
  record.last_error_code.reset();
}

}  // namespace baton::agent_run
