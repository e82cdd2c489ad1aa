#include <algorithm>

#include "base/text.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/reports.h"

namespace baton::agent_run {
namespace {

void sooner(Decision& decision, Time time) {
  decision.wake = std::min(decision.wake.value_or(time), time);
}

void say(Decision& decision, Word event, const std::string& step, std::string why) {
  decision.notices.push_back(Notice{std::move(event), step, std::move(why)});
}

/// A start, or an attempt at one: then `run` is empty.
void begin(Scene& scene, const std::string& id, const RunId& run) {
  StepRecord& record = scene.record(id);
  // After an interruption it is the same piece of work once more, and the stage stays.
  if (record.status == Status::pending)
    ++record.executions;
  record.status = Status::running;
  ++record.attempts;
  record.started_at = stamp(scene.view.wall);
  record.ended_at.reset();
  record.report_path.reset();
  StepMemo& memo = scene.memo.steps[id];
  memo.run = run;
  memo.early.clear();
  memo.report_ms = 0;
  memo.ended_ms = 0;
  memo.label = next_label(record, memo);
  if (memo.label.find('x') == std::string::npos)
    memo.labels.push_back(memo.label);
}

void take(StepRecord& record, const Report& report) {
  record.ended_at = report.ended_at;
  record.metrics = report.metrics;
  record.logs = report.logs;
  record.memory_updates = report.memory_updates;
  // The items of a loop are one step; what each of them made is the step's, and what was made in
  // vain is not.
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

std::string last_printed(const Run& run) {
  const auto lines = split(spoken(run.output), '\n');
  const auto found = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) {
    return line.find_first_not_of(" \t\r") != std::string::npos;
  });
  return found == lines.rend() ? std::string() : printable(*found, 300);
}

/// What came of it, for last_error: how the process left, and what it said last.
std::string failure_of(const Run& run, const Report& report) {
  if (!run.exit_code || *run.exit_code == 0)
    return last_lines(report);
  const std::string said = last_printed(run);
  return reason_of(run) + ": " + (said.empty() ? last_lines(report) : said);
}

/// Whether one more loop-back is allowed to a step.
bool may_go_back(const Scene& scene, const std::string& id) {
  return scene.record(id).iterations < scene.settings.max_iterations;
}

/// The gate of a step has failed. Saved as it is; the work goes back a moment later, so that
/// both can be seen in the file. A crash in between changes nothing: the memo knows.
void fail_gate(Scene& scene, const Step& step, const std::string& why, Decision& decision) {
  if (!may_go_back(scene, step.id)) {
    fail_for_good(
        scene, step, "gate_limit",
        "Gate failure: " + why + " (after " + std::to_string(scene.record(step.id).iterations) +
            " loop-backs; max_iterations is " + std::to_string(scene.settings.max_iterations) + ")",
        decision);
    return;
  }
  StepRecord& record = scene.record(step.id);
  record.status = Status::completed;
  record.last_error = "Gate failure: " + why;
  scene.memo.steps[step.id].gate = why.empty() ? "no reason given" : why;
  scene.memo.steps[step.id].gate_ms = scene.view.now.time_since_epoch().count();
  sooner(decision, scene.view.now + Millis(1));
}

/// Target and everything behind it begin anew, each counted once, in one write.
void go_back(Scene& scene, const Step& source, Decision& decision) {
  const std::string why = scene.memo.steps[source.id].gate;
  const std::string target = *source.loop_back_to;
  for (const Step& step : scene.workflow->steps()) {
    if (step.id != target && !scene.workflow->ancestors(step).contains(target))
      continue;
    StepRecord& record = scene.record(step.id);
    record.reset();
    ++record.iterations;
    StepMemo& memo = scene.memo.steps[step.id];
    memo.gate.clear();
    memo.gate_ms = 0;
    // A start that is still at work is known, so that it is not taken for a new one.
    const Run* const live = scene.live(step.id);
    memo.run = live == nullptr ? RunId() : live->id;
    memo.failed_ms = 0;
    memo.reason.clear();
    memo.early.clear();
  }
  StepRecord& record = scene.record(source.id);
  record.last_gate_failure = "Gate failure: " + why;
  if (target != source.id)
    record.blocked_by_loop = target;
  scene.memo.steps[target].reason = why;
  say(decision, "loop_back", source.id,
      "back to " + target + " (" + std::to_string(record.iterations) + " of " +
          std::to_string(scene.settings.max_iterations) + "): " + why);
}

/// One item is done: the next one, or all are.
bool next_item(Scene& scene, const Step& step) {
  StepRecord& record = scene.record(step.id);
  const std::int64_t count = static_cast<std::int64_t>(record.loop_items->Size());
  // A record that another program has left may stand behind the last one already.
  record.loop_index = std::min(record.loop_index + 1, count);
  const std::int64_t most = json::integer(*loop_of(step), "max_iterations").value_or(count);
  if (record.loop_index < std::min(count, most)) {
    again(record);
    record.attempts = 0;
    return true;
  }
  record.loop_completed = true;
  return false;
}

void complete(Scene& scene, const Step& step, const Report& report) {
  StepRecord& record = scene.record(step.id);
  record.report_path = scene.places.absolute(scene.places.report(step.id));
  take(record, report);
  record.status = Status::completed;
  record.last_error.reset();
  record.last_error_code.reset();
  scene.memo.steps[step.id].reason.clear();
}

/// A person is asked. The record takes the report's word only when it is approved; a decision that
/// lies there already was about something else.
void ask(Scene& scene, const Step& step, Decision& decision) {
  StepRecord& record = scene.record(step.id);
  const std::string path = scene.places.manual_input(step.id);
  record.status = Status::waiting_on_human;
  record.report_path.reset();
  record.manual_input_path = scene.places.absolute(path);
  if (const Accepted* const old = scene.document(path); old != nullptr && old->present) {
    decision.updates.emplace_back(
        Move{path, old->document->digest(),
             scene.places.archived_input(step.id, scene.memo.steps[step.id].label + "_early"),
             "a decision from before the question"});
    say(decision, "early_decision", step.id,
        path + " was there before the question and is put aside; decide again");
  }
  say(decision, "human_input", step.id,
      "the step is done and waits for a person's decision; its report: " +
          scene.places.report(step.id));
}

void apply(Scene& scene, const Step& step, const Run& run, const Report& report,
           Decision& decision) {
  StepRecord& record = scene.record(step.id);
  // Here, where each start comes by once, whatever becomes of its step.
  add_cost(scene, run, report, decision);
  if (!report.astray.empty())
    say(decision, "artifact_astray", step.id,
        "not below the repository: " + printable(join(report.astray, ", "), 300));
  if (report.gate_failure && !step.loop_back_to)
    say(decision, "gate_ignored", step.id,
        "gate_failure is true, but the step has no loop_back_to; its status counts");
  if (report.gate_failure && step.loop_back_to) {
    complete(scene, step, report);
    fail_gate(scene, step, first_line(report), decision);
    return;
  }
  if (!report.completed) {
    record.report_path = scene.places.absolute(scene.places.report(step.id));
    take(record, report);
    fail_attempt(scene, step, "agent_reported", failure_of(run, report), decision);
    return;
  }
  if (!record.loop_items.is_null()) {
    take(record, report);
    if (next_item(scene, step))
      return;
  }
  if (scene.settings.pause_for_human_input && wants_person(step))
    ask(scene, step, decision);
  else
    complete(scene, step, report);
}

/// A start that has ended.
void conclude(Scene& scene, const Step& step, const Run& run, Decision& decision) {
  StepRecord& record = scene.record(step.id);
  StepMemo& memo = scene.memo.steps[step.id];
  if (run.outcome == Outcome::voided) {
    // Nothing ran: neither an attempt nor a start.
    again(record);
    record.attempts = std::max<std::int64_t>(0, record.attempts - 1);
    record.executions = std::max<std::int64_t>(0, record.executions - 1);
    memo.run.clear();
    return;
  }
  if (run.outcome == Outcome::stopped) {
    again(record);
    record.attempts = std::max<std::int64_t>(0, record.attempts - 1);
    record.last_error = "stopped";
    memo.run.clear();
    return;
  }
  if (memo.ended_ms == 0)
    memo.ended_ms = scene.view.now.time_since_epoch().count();
  Testimony told = testimony(scene, step, run);
  if (run.outcome == Outcome::interrupted && told.kind != Testimony::Kind::valid)
    return;  // it may have done its work: `on_interrupted` decides
  switch (told.kind) {
    case Testimony::Kind::waiting:
      sooner(decision, told.again);
      decision.holds.push_back(Hold{run.key.role, step.id, "condition",
                                    "its agent has ended, and its report may still come"});
      return;
    case Testimony::Kind::written:
      decision.updates.push_back(std::move(*told.file));
      return;
    case Testimony::Kind::valid:
      apply(scene, step, run, told.report, decision);
      break;
    case Testimony::Kind::invalid:
      fail_attempt(scene, step, "invalid_report", told.why, decision);
      break;
    case Testimony::Kind::none: {
      const std::string said = last_printed(run);
      fail_attempt(scene, step, code_of(run),
                   reason_of(run) + (said.empty() ? " without a report" : ": " + said), decision);
      break;
    }
  }
  memo.run.clear();
}

/// RUNNING, and nobody knows of a start: the file of a program that is gone.
void orphan(Scene& scene, const Step& step, Decision& decision) {
  StepRecord& record = scene.record(step.id);
  const Accepted* const report = scene.document(scene.places.report(step.id));
  if (report == nullptr || !report->present)
    record.attempts = std::max<std::int64_t>(0, record.attempts - 1);
  // It did not fail, so there is an attempt left.
  record.attempts = std::min(record.attempts, scene.max_attempts(step) - 1);
  again(record);
  say(decision, "orphaned", step.id, "RUNNING without a process: to be started again");
}

void hear(Scene& scene, const Step& step, Decision& decision) {
  const std::string path = scene.places.manual_input(step.id);
  const Accepted* const file = scene.document(path);
  const auto stage = scene.view.stages.find(step.id);
  if (file == nullptr || !file->present || !file->rejected.empty() ||
      stage == scene.view.stages.end() || stage->second.stage != "waiting_on_human")
    return;
  // Of a run that was taken over while it waited: the question is older than what baton knows, and
  // its program would have used up a decision from before.
  const bool taken_over = scene.memo.steps[step.id].label.empty();
  if (file->arrival <= stage->second.arrival && !taken_over)
    return;
  const auto verdict = verdict_of(file->document->root());
  if (!verdict)
    return;
  decision.updates.emplace_back(
      Move{path, file->document->digest(),
           scene.places.archived_input(step.id, decision_label(scene, step.id)),
           "the decision is taken"});
  settle(scene, step, *verdict, decision);
}

/// A report that lies there while its agent is still at work, where that is to be taken.
void listen(Scene& scene, const Step& step, const Run& run, Decision& decision) {
  const auto report = lying_report(scene, step, run);
  StepMemo& memo = scene.memo.steps[step.id];
  if (!report || !scene.settings.accept_early) {
    memo.report_ms = 0;
    return;
  }
  const Time now = scene.view.now;
  if (memo.report_ms == 0)
    memo.report_ms = now.time_since_epoch().count();
  const Time due = Time(Millis(memo.report_ms)) + *scene.settings.accept_early;
  if (now < due) {
    sooner(decision, due);
    return;
  }
  say(decision, "accepted_early", step.id, "its agent is still at work (accept_early)");
  memo.early = run.id;
  memo.run.clear();
  apply(scene, step, run, *report, decision);
}

/// What the step is due for cannot be started: its program is missing, a value cannot be passed.
/// That is an attempt as well, or the run would wait for ever without a word in its state.
void launch_fails(Scene& scene, const Step& step, Decision& decision) {
  const auto stage = scene.view.stages.find(step.id);
  const Status status = scene.record(step.id).status;
  if (status != Status::pending && status != Status::running)
    return;  // counted already, and it was the last one
  for (const auto& [key, why] : scene.view.refused) {
    if (key.subject != step.id || stage == scene.view.stages.end() ||
        key.generation != stage->second.generation)
      continue;
    begin(scene, step.id, RunId());
    fail_attempt(scene, step, "launch_failed", why, decision);
    return;
  }
}

/// A run that was stopped by name is cancelled: what has not begun is left out, until `resume`.
void cancel(Scene& scene) {
  for (const Step& step : scene.workflow->steps()) {
    if (scene.record(step.id).status != Status::pending)
      continue;
    scene.record(step.id).status = Status::skipped;
    scene.memo.steps[step.id].cancelled = true;
  }
}

void revive(Scene& scene) {
  for (auto& [id, memo] : scene.memo.steps) {
    if (!memo.cancelled)
      continue;
    memo.cancelled = false;
    if (const auto found = scene.run.steps.find(id);
        found != scene.run.steps.end() && found->second.status == Status::skipped)
      found->second.status = Status::pending;
  }
}

void look_at(Scene& scene, const Step& step, Decision& decision) {
  StepRecord& record = scene.record(step.id);
  const Run* const live = scene.live(step.id);
  StepMemo& memo = scene.memo.steps[step.id];
  // A start of before a loop-back is on its way out and not the step's any more.
  const bool wanted = live != nullptr && live->id != memo.run &&
                      (record.status == Status::pending || record.status == Status::running) &&
                      live->state == RunState::started && scene.view.stages.contains(step.id) &&
                      live->key.generation == scene.view.stages.at(step.id).generation;
  if (wanted)
    begin(scene, step.id, live->id);
  switch (record.status) {
    case Status::running: {
      const Run* const run = scene.find(memo.run);
      const Accepted* const report = scene.document(scene.places.report(step.id));
      if (run == nullptr && live == nullptr)
        orphan(scene, step, decision);
      else if (run != nullptr && !run->live())
        conclude(scene, step, *run, decision);
      else if (run != nullptr && report != nullptr && report->present) {
        record.report_path = scene.places.absolute(scene.places.report(step.id));
        listen(scene, step, *run, decision);
      }
      break;
    }
    case Status::waiting_on_human:
      hear(scene, step, decision);
      break;
    case Status::failed:
    case Status::pending:
    case Status::completed:
    case Status::skipped:
      break;
  }
}

}  // namespace

void again(StepRecord& record) {
  record.status = Status::pending;
  record.report_path.reset();
  record.started_at.reset();
  record.ended_at.reset();
}

void fail_for_good(Scene& scene, const Step& step, std::string_view code, const std::string& text,
                   Decision& decision) {
  StepRecord& record = scene.record(step.id);
  record.status = Status::failed;
  record.last_error = text;
  record.last_error_code = std::string(code);
  if (!record.ended_at)
    record.ended_at = stamp(scene.view.wall);
  say(decision, "step_failed", step.id, text);
}

void settle(Scene& scene, const Step& step, const Verdict& verdict, Decision& decision) {
  const Accepted* const file = scene.document(scene.places.report(step.id));
  const Report report = file == nullptr ? Report{} : report_of(scene, file->document->root());
  StepRecord& record = scene.record(step.id);
  say(decision, verdict.approved ? "approved" : "rejected", step.id,
      verdict.comment.empty() ? "by a person" : verdict.comment);
  complete(scene, step, report);
  if (!record.ended_at || record.ended_at->empty())
    record.ended_at = stamp(scene.view.wall);
  if (verdict.approved)
    return;
  const std::string why = verdict.comment.empty() ? "rejected by a person" : verdict.comment;
  if (step.loop_back_to)
    fail_gate(scene, step, why, decision);
  else
    fail_for_good(scene, step, "rejected", why, decision);
}

void fail_attempt(Scene& scene, const Step& step, std::string_view code, const std::string& text,
                  Decision& decision) {
  StepRecord& record = scene.record(step.id);
  scene.memo.steps[step.id].failed_ms = scene.view.now.time_since_epoch().count();
  if (record.attempts >= scene.max_attempts(step)) {
    fail_for_good(scene, step, code, text, decision);
    return;
  }
  again(record);
  record.last_error = text;
  record.last_error_code = std::string(code);
  say(decision, "attempt_failed", step.id,
      "attempt " + std::to_string(record.attempts) + " of " +
          std::to_string(scene.max_attempts(step)) + ": " + text);
}

void progress(Scene& scene, Decision& decision) {
  const bool cancelled = scene.view.control == Control::stop;
  if (!cancelled)
    revive(scene);
  for (const Step& step : scene.workflow->steps()) {
    const StepMemo& memo = scene.memo.steps[step.id];
    if (memo.gate.empty())
      continue;
    if (scene.view.now > Time(Millis(memo.gate_ms)))
      go_back(scene, step, decision);
    else
      sooner(decision, scene.view.now + Millis(1));
  }
  for (const Step& step : scene.workflow->steps()) {
    look_at(scene, step, decision);
    launch_fails(scene, step, decision);
  }
  for (const Step& step : scene.workflow->steps()) {
    StepRecord& record = scene.record(step.id);
    if (record.blocked_by_loop && scene.run.steps.contains(*record.blocked_by_loop) &&
        scene.done(*record.blocked_by_loop))
      record.blocked_by_loop.reset();
  }
  if (cancelled && !scene.any_failed())
    cancel(scene);
}

}  // namespace baton::agent_run
