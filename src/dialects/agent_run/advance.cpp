// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "core/agent_text.h"
#include "core/run_text.h"
#include "dialects/agent_run/conditions.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"

namespace baton::agent_run {
namespace {

void wake_at(Decision& decision, Time time) {
  decision.wake = std::min(decision.wake.value_or(time), time);
}

void say(Decision& decision, Word event, const std::string& step, std::string why) {
  decision.notices.push_back(Notice{std::move(event), step, std::move(why)});
}

/// Records a start. If the agent could not be started, `run` is empty.
void record_start(Snapshot& snapshot, const std::string& id, const RunId& run) {
  StepRecord& record = snapshot.record(id);
  // An interrupted step repeats the same work, so its stage stays the same.
  if (record.status == Status::pending)
    ++record.executions;
  record.status = Status::running;
  ++record.attempts;
  record.started_at = stamp(snapshot.view.wall);
  record.ended_at.reset();
  record.report_path.reset();
  StepMemo& memo = snapshot.memo.steps[id];
  memo.run = run;
  memo.early.clear();
  memo.report_ms = 0;
  memo.ended_ms = 0;
  memo.label = next_label(record, memo);
  if (memo.label.find('x') == std::string::npos)
    memo.labels.push_back(memo.label);
}

void store_report(StepRecord& record, const Report& report) {
  record.ended_at = report.ended_at;
  record.metrics = report.metrics;
  record.logs = report.logs;
  record.memory_updates = report.memory_updates;
  // All items of a loop belong to one step, and their artifacts add up. Artifacts of a failed item
  // do not count.
  if (!record.loop_items.is_null() && !report.completed)
    return;
  Json all = record.loop_items.is_null() ? Json::array() : record.artifacts;
  for (const Value& path : report.artifacts->GetArray())
    if (std::none_of(all->Begin(), all->End(),
                     [&](const Value& known) { return json::equal(known, path); }))
      all.push(Json(path));
  record.artifacts = all;
}

std::string reason_of(const Run& run) {
  if (run.exit_code)
    return "Agent process exited with code " + std::to_string(*run.exit_code);
  return "Agent process ended: " + std::string(word(run.outcome)) +
         (run.reason.empty() ? "" : " (" + run.reason + ")");
}

std::string_view code_of(const Run& run) {
  if (run.outcome == Outcome::timed_out || run.outcome == Outcome::stalled)
    return "timeout";
  if (run.reason == "exec_failed" || run.reason.starts_with("before"))
    return "launch_failed";
  return run.signal != 0 || run.outcome == Outcome::unknown || run.outcome == Outcome::interrupted
             ? "killed"
             : "no_report";
}

/// Fails the attempt. The run remembers why if it ended well itself.
void fail_work(Snapshot& snapshot, const Step& step, const Run& run, std::string_view code,
               const std::string& text, Decision& decision) {
  fail_attempt(snapshot, step, code, text, decision);
  decision.failed_work.emplace(run.id, code);
}

std::string last_output_line(const Run& run) {
  const auto lines = split(agent_text(run.output), '\n');
  const auto found = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) {
    return line.find_first_not_of(" \t\r") != std::string::npos;
  });
  return found == lines.rend() ? std::string() : printable(*found, 300);
}

/// The text for last_error: how the process ended, and its last line of output.
std::string failure_of(const Run& run, const Report& report) {
  if (!run.exit_code || *run.exit_code == 0)
    return last_lines(report);
  const std::string last_line = last_output_line(run);
  return reason_of(run) + ": " + (last_line.empty() ? last_lines(report) : last_line);
}

/// Whether the step may send work back once more.
bool may_go_back(const Snapshot& snapshot, const std::string& id) {
  return snapshot.record(id).iterations < snapshot.settings.max_iterations;
}

}  // namespace

/// This decision writes the failure, and the next one sends the work back,
/// so that the file shows both. If baton crashes in between, the memo still has the failed gate.
void fail_gate(Snapshot& snapshot, const Step& step, const std::string& why, Decision& decision) {
  if (!may_go_back(snapshot, step.id)) {
    fail_for_good(snapshot, step, "gate_limit",
                  "Gate failure: " + why + " (after " +
                      std::to_string(snapshot.record(step.id).iterations) +
                      " loop-backs; max_iterations is " +
                      std::to_string(snapshot.settings.max_iterations) + ")",
                  decision);
    return;
  }
  StepRecord& record = snapshot.record(step.id);
  record.status = Status::completed;
  record.last_error = "Gate failure: " + why;
  snapshot.memo.steps[step.id].gate = why.empty() ? "no reason given" : why;
  snapshot.memo.steps[step.id].gate_ms = snapshot.view.now.time_since_epoch().count();
  wake_at(decision, snapshot.view.now + Millis(1));
}

namespace {

/// Resets the target and all later steps, and counts one iteration for each, in one write.
void go_back(Snapshot& snapshot, const Step& source, Decision& decision) {
  const std::string why = snapshot.memo.steps[source.id].gate;
  const std::string target = *source.loop_back_to;
  for (const Step& step : snapshot.workflow->steps()) {
    if (step.id != target && !snapshot.workflow->ancestors(step).contains(target))
      continue;
    StepRecord& record = snapshot.record(step.id);
    record.reset();
    ++record.iterations;
    StepMemo& memo = snapshot.memo.steps[step.id];
    memo.gate.clear();
    memo.gate_ms = 0;
    // The memo keeps the run id of a running agent, so that baton does not take that agent for a
    // new start.
    const Run* const live = snapshot.live(step.id);
    memo.run = live == nullptr ? RunId() : live->id;
    memo.failed_ms = 0;
    memo.reason.clear();
    memo.early.clear();
  }
  leave_out_items(snapshot);
  StepRecord& record = snapshot.record(source.id);
  record.last_gate_failure = "Gate failure: " + why;
  if (target != source.id)
    record.blocked_by_loop = target;
  snapshot.memo.steps[target].reason = why;
  say(decision, "loop_back", source.id,
      "back to " + target + " (" + std::to_string(record.iterations) + " of " +
          std::to_string(snapshot.settings.max_iterations) + "): " + why);
}

/// Moves to the next item of a loop. False if all items are done.
bool next_item(Snapshot& snapshot, const Step& step) {
  StepRecord& record = snapshot.record(step.id);
  const std::int64_t count = static_cast<std::int64_t>(record.loop_items->Size());
  // The record of another program may be past the last item already.
  record.loop_index = std::min(record.loop_index + 1, count);
  const std::int64_t most = json::integer(*loop_of(step), "max_iterations").value_or(count);
  if (record.loop_index < std::min(count, most)) {
    make_pending(record);
    record.attempts = 0;
    return true;
  }
  record.loop_completed = true;
  return false;
}

void complete(Snapshot& snapshot, const Step& step, const Report& report) {
  StepRecord& record = snapshot.record(step.id);
  // The reports of a parallel loop are those of its items.
  if (is_parallel(step))
    record.report_path.reset();
  else
    record.report_path = snapshot.paths.absolute(snapshot.paths.report(step.id));
  store_report(record, report);
  record.status = Status::completed;
  record.last_error.reset();
  record.last_error_code.reset();
  snapshot.memo.steps[step.id].reason.clear();
}

/// Lets the step wait for a person. The report counts only after approval. A decision file that
/// exists already was about something else, so baton archives it.
void ask(Snapshot& snapshot, const Step& step, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  const std::string path = snapshot.paths.manual_input(step.id);
  record.status = Status::waiting_on_human;
  record.report_path.reset();
  record.manual_input_path = snapshot.paths.absolute(path);
  if (const Accepted* const old = snapshot.document(path); old != nullptr && old->present) {
    decision.updates.emplace_back(
        Move{path, old->document->digest(),
             snapshot.paths.archived_input(step.id, snapshot.memo.steps[step.id].label + "_early"),
             "written before the step waited for a decision"});
    say(decision, "early_decision", step.id,
        path +
            " was written before the step waited, so it does not count and was archived; decide "
            "again");
  }
  say(decision, "human_input", step.id,
      "the step is done and waits for a decision; " +
          (is_parallel(step) ? "the reports of its items are in " + snapshot.paths.reports()
                             : "its report: " + snapshot.paths.report(step.id)));
}

void apply(Snapshot& snapshot, const Step& step, const Run& run, const Report& report,
           Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  // Each start gets here exactly once.
  add_cost(snapshot, run, report, decision);
  if (!report.outside.empty())
    say(decision, "artifact_astray", step.id,
        "these artifacts are outside the repository: " +
            printable(join(report.outside, ", "), 300));
  const Step* const loop = step.of.empty() ? nullptr : snapshot.workflow->step(step.of);
  // The other items go on. The step sends the work back when all of them are done.
  if (report.gate_failure && loop != nullptr && loop->loop_back_to) {
    complete(snapshot, step, report);
    record.last_gate_failure = "Gate failure: " + first_line(report);
    return;
  }
  if (report.gate_failure && !step.loop_back_to)
    say(decision, "gate_ignored", step.id,
        "gate_failure is true, but the step has no loop_back_to; only its status counts");
  if (report.gate_failure && step.loop_back_to) {
    complete(snapshot, step, report);
    fail_gate(snapshot, step, first_line(report), decision);
    return;
  }
  if (!report.completed) {
    record.report_path = snapshot.paths.absolute(snapshot.paths.report(step.id));
    store_report(record, report);
    fail_work(snapshot, step, run, "agent_reported", failure_of(run, report), decision);
    return;
  }
  if (!record.loop_items.is_null()) {
    store_report(record, report);
    if (next_item(snapshot, step))
      return;
  }
  finish(snapshot, step, report, decision);
}

/// Handles the end of a start.
void handle_end(Snapshot& snapshot, const Step& step, const Run& run, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  StepMemo& memo = snapshot.memo.steps[step.id];
  if (run.outcome == Outcome::voided) {
    // No process ran, so neither attempt nor start counts.
    make_pending(record);
    record.attempts = std::max<std::int64_t>(0, record.attempts - 1);
    record.executions = std::max<std::int64_t>(0, record.executions - 1);
    memo.run.clear();
    return;
  }
  if (is_put_back(run.outcome)) {
    make_pending(record);
    record.attempts = std::max<std::int64_t>(0, record.attempts - 1);
    if (run.outcome == Outcome::stopped)
      record.last_error = "stopped";
    memo.run.clear();
    return;
  }
  if (memo.ended_ms == 0)
    memo.ended_ms = snapshot.view.now.time_since_epoch().count();
  FoundReport found = find_report(snapshot, step, run);
  if (run.outcome == Outcome::interrupted && found.kind != FoundReport::Kind::valid)
    return;  // its agent may have done the work: `on_interrupted` decides
  switch (found.kind) {
    case FoundReport::Kind::waiting:
      wake_at(decision, found.look_again);
      decision.holds.push_back(Hold{run.key.role, step.id, cause_of(Situation::report_awaited),
                                    run_name(run) + " has ended; its report may still arrive", "",
                                    found.look_again});
      return;
    case FoundReport::Kind::written:
      decision.updates.push_back(std::move(*found.file));
      return;
    case FoundReport::Kind::valid:
      apply(snapshot, step, run, found.report, decision);
      break;
    case FoundReport::Kind::invalid:
      fail_work(snapshot, step, run, "invalid_report", found.why, decision);
      break;
    case FoundReport::Kind::none: {
      const std::string last_line = last_output_line(run);
      fail_work(snapshot, step, run, code_of(run),
                reason_of(run) + " without a report" +
                    (last_line.empty() ? std::string() : ": " + last_line),
                decision);
      break;
    }
  }
  memo.run.clear();
}

/// Restarts a step that is RUNNING without a known start. The program that started it does not run
/// any more.
void restart_orphan(Snapshot& snapshot, const Step& step, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  const Accepted* const report = snapshot.document(snapshot.paths.report(step.id));
  if (report == nullptr || !report->present)
    record.attempts = std::max<std::int64_t>(0, record.attempts - 1);
  // The step did not fail, so one attempt must remain.
  record.attempts = std::min(record.attempts, snapshot.max_attempts(step) - 1);
  make_pending(record);
  say(decision, "orphaned", step.id, "the step is RUNNING but has no process; it starts again");
}

void take_manual_input(Snapshot& snapshot, const Step& step, Decision& decision) {
  const std::string path = snapshot.paths.manual_input(step.id);
  const Accepted* const file = snapshot.document(path);
  const auto stage = snapshot.view.stages.find(step.id);
  if (file == nullptr || !file->present || !file->rejected.empty() ||
      stage == snapshot.view.stages.end() || stage->second.stage != "waiting_on_human")
    return;
  // baton took over the run while the step waited, so it does not know when the former program
  // asked. An older decision cannot be left: that program would have used it up.
  const bool taken_over = snapshot.memo.steps[step.id].label.empty();
  if (file->arrival <= stage->second.arrival && !taken_over)
    return;
  const auto verdict = verdict_of(file->document->root());
  if (!verdict)
    return;
  decision.updates.emplace_back(
      Move{path, file->document->digest(),
           snapshot.paths.archived_input(step.id, decision_label(snapshot, step.id)),
           "the decision was applied"});
  apply_verdict(snapshot, step, *verdict, decision);
}

/// Accepts the report of a running agent after the time in accept_early.
void take_early_report(Snapshot& snapshot, const Step& step, const Run& run, Decision& decision) {
  const auto report = early_report(snapshot, step, run);
  StepMemo& memo = snapshot.memo.steps[step.id];
  if (!report || !snapshot.settings.accept_early) {
    memo.report_ms = 0;
    return;
  }
  const Time now = snapshot.view.now;
  if (memo.report_ms == 0)
    memo.report_ms = now.time_since_epoch().count();
  const Time due = Time(Millis(memo.report_ms)) + *snapshot.settings.accept_early;
  if (now < due) {
    wake_at(decision, due);
    return;
  }
  say(decision, "accepted_early", step.id, "the agent still runs (accept_early)");
  memo.early = run.id;
  memo.run.clear();
  apply(snapshot, step, run, *report, decision);
}

/// Counts an attempt if the agent of the step could not be started. Otherwise the run would wait
/// forever, and its state would not say why.
void launch_fails(Snapshot& snapshot, const Step& step, Decision& decision) {
  const auto stage = snapshot.view.stages.find(step.id);
  const Status status = snapshot.record(step.id).status;
  if (status != Status::pending && status != Status::running)
    return;  // counted already, as the last attempt
  for (const auto& [key, why] : snapshot.view.refused) {
    if (key.subject != step.id || stage == snapshot.view.stages.end() ||
        key.generation != stage->second.generation)
      continue;
    record_start(snapshot, step.id, RunId());
    fail_attempt(snapshot, step, "launch_failed", why, decision);
    return;
  }
}

/// Skips the steps that have not begun, because a person stopped the run by name. `baton resume`
/// undoes it.
void cancel(Snapshot& snapshot) {
  for (const Step& step : snapshot.workflow->steps()) {
    if (snapshot.record(step.id).status != Status::pending)
      continue;
    snapshot.record(step.id).status = Status::skipped;
    snapshot.memo.steps[step.id].cancelled = true;
  }
}

void revive(Snapshot& snapshot) {
  for (auto& [id, memo] : snapshot.memo.steps) {
    if (!memo.cancelled)
      continue;
    memo.cancelled = false;
    if (const auto found = snapshot.run.steps.find(id);
        found != snapshot.run.steps.end() && found->second.status == Status::skipped)
      found->second.status = Status::pending;
  }
}

void update_step(Snapshot& snapshot, const Step& step, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  if (record.status == Status::running && is_parallel(step)) {
    if (record.loop_items.is_null())
      restart_orphan(snapshot, step, decision);
    return;
  }
  const Run* const live = snapshot.live(step.id);
  StepMemo& memo = snapshot.memo.steps[step.id];
  // A start from before a loop-back does not count. baton stops its agent.
  const bool wanted = live != nullptr && live->id != memo.run &&
                      (record.status == Status::pending || record.status == Status::running) &&
                      live->state == RunState::started && snapshot.view.stages.contains(step.id) &&
                      live->key.generation == snapshot.view.stages.at(step.id).generation;
  if (wanted)
    record_start(snapshot, step.id, live->id);
  switch (record.status) {
    case Status::running: {
      const Run* const run = snapshot.find(memo.run);
      const Accepted* const report = snapshot.document(snapshot.paths.report(step.id));
      if (run == nullptr && live == nullptr)
        restart_orphan(snapshot, step, decision);
      else if (run != nullptr && !run->live())
        handle_end(snapshot, step, *run, decision);
      else if (run != nullptr && report != nullptr && report->present) {
        record.report_path = snapshot.paths.absolute(snapshot.paths.report(step.id));
        take_early_report(snapshot, step, *run, decision);
      }
      break;
    }
    case Status::waiting_on_human:
      take_manual_input(snapshot, step, decision);
      break;
    case Status::failed:
    case Status::pending:
    case Status::completed:
    case Status::skipped:
      break;
  }
}

}  // namespace

void finish(Snapshot& snapshot, const Step& step, const Report& report, Decision& decision) {
  if (snapshot.settings.pause_for_human_input && needs_person(step))
    ask(snapshot, step, decision);
  else
    complete(snapshot, step, report);
}

void make_pending(StepRecord& record) {
  record.status = Status::pending;
  record.report_path.reset();
  record.started_at.reset();
  record.ended_at.reset();
}

void fail_for_good(Snapshot& snapshot, const Step& step, std::string_view code,
                   const std::string& text, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  record.status = Status::failed;
  record.last_error = text;
  record.last_error_code = std::string(code);
  if (!record.ended_at)
    record.ended_at = stamp(snapshot.view.wall);
  say(decision, "step_failed", step.id, text);
}

void apply_verdict(Snapshot& snapshot, const Step& step, const Verdict& verdict,
                   Decision& decision) {
  const Accepted* const file = snapshot.document(snapshot.paths.report(step.id));
  const Report report = file == nullptr ? Report{} : report_of(snapshot, file->document->root());
  StepRecord& record = snapshot.record(step.id);
  say(decision, verdict.approved ? "approved" : "rejected", step.id,
      verdict.comment.empty() ? "by a person" : verdict.comment);
  complete(snapshot, step, report);
  if (!record.ended_at || record.ended_at->empty())
    record.ended_at = stamp(snapshot.view.wall);
  if (verdict.approved)
    return;
  const std::string why = verdict.comment.empty() ? "rejected by a person" : verdict.comment;
  if (step.loop_back_to)
    fail_gate(snapshot, step, why, decision);
  else
    fail_for_good(snapshot, step, "rejected", why, decision);
}

void fail_attempt(Snapshot& snapshot, const Step& step, std::string_view code,
                  const std::string& text, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  snapshot.memo.steps[step.id].failed_ms = snapshot.view.now.time_since_epoch().count();
  if (record.attempts >= snapshot.max_attempts(step)) {
    fail_for_good(snapshot, step, code, text, decision);
    return;
  }
  make_pending(record);
  record.last_error = text;
  record.last_error_code = std::string(code);
  say(decision, "attempt_failed", step.id,
      "attempt " + std::to_string(record.attempts) + " of " +
          std::to_string(snapshot.max_attempts(step)) + ": " + text);
}

void advance(Snapshot& snapshot, Decision& decision) {
  const bool cancelled = snapshot.view.control == Control::stop;
  if (!cancelled)
    revive(snapshot);
  for (const Step& step : snapshot.workflow->steps()) {
    const StepMemo& memo = snapshot.memo.steps[step.id];
    if (memo.gate.empty())
      continue;
    if (snapshot.view.now > Time(Millis(memo.gate_ms)))
      go_back(snapshot, step, decision);
    else
      wake_at(decision, snapshot.view.now + Millis(1));
  }
  for (const Step& step : snapshot.workflow->steps()) {
    update_step(snapshot, step, decision);
    launch_fails(snapshot, step, decision);
  }
  for (const Step& step : snapshot.workflow->steps())
    advance_items(snapshot, step, decision);
  for (const Step& step : snapshot.workflow->steps()) {
    StepRecord& record = snapshot.record(step.id);
    if (record.blocked_by_loop && snapshot.run.steps.contains(*record.blocked_by_loop) &&
        snapshot.done(*record.blocked_by_loop))
      record.blocked_by_loop.reset();
  }
  if (cancelled && !snapshot.any_failed())
    cancel(snapshot);
}

}  // namespace baton::agent_run
