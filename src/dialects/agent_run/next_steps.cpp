// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "core/reconcile.h"
#include "core/reported.h"
#include "core/run_text.h"
#include "dialects/agent_run/conditions.h"
#include "dialects/agent_run/decide.h"
#include "dialects/findings.h"

namespace baton::agent_run {

namespace {

constexpr std::string_view kRaise =
    "raise `daily_cost_limit` in the configuration, then `baton reload`";

/// Other programs may change the daily statistics without an event, so baton looks again.
constexpr Millis kLookAgain{60'000};

std::string day_of(Time time) {
  constexpr std::size_t kDay = 10;  // 2026-01-22
  return iso_time(time).substr(0, kDay);
}

/// A number, or a text that is a number. Any other value counts as 0, and so does one below zero.
double amount(const Value& object, std::string_view name) {
  const Value* const value = json::child(object, name);
  double amount = 0;
  if (value != nullptr && value->IsNumber()) {
    amount = value->GetDouble();
  } else if (const auto text = value == nullptr ? std::nullopt : json::text(*value)) {
    const auto read = std::from_chars(text->data(), text->data() + text->size(), amount);
    if (read.ec != std::errc() || read.ptr != text->data() + text->size())
      return 0;
  }
  return std::isfinite(amount) ? std::max(0.0, amount) : 0;
}

double tokens_of(const Value& metrics) {
  constexpr double kMost = 9'007'199'254'740'992;  // larger doubles are not whole numbers
  const double total = amount(metrics, "total_tokens");
  return std::min(kMost, total > 0
                             ? total
                             : amount(metrics, "input_tokens") + amount(metrics, "output_tokens"));
}

/// When the next day of UTC begins, on the clock of `View::now`.
Time next_day(const View& view) {
  constexpr std::chrono::hours kDay{24};
  return view.now + (kDay - view.wall.time_since_epoch() % kDay);
}

double today(const Snapshot& snapshot) {
  double cost = snapshot.memo.cost_day == day_of(snapshot.view.wall) ? snapshot.memo.cost_usd : 0;
  if (const Accepted* const stats = snapshot.document(daily_stats(snapshot)))
    cost = std::max(cost, amount(stats->document->root(), "total_cost_usd"));
  return cost;
}

void hold(Decision& decision, const Step& step, Situation situation, std::string why,
          std::string action = {}, std::optional<Time> until = {}) {
  decision.holds.push_back(
      Hold{role_of(step), step.id, cause_of(situation), std::move(why), std::move(action), until});
}

/// The last start of the step in its present stage; nullptr if there is none.
const Run* last_run(const Snapshot& snapshot, const std::string& id) {
  const Run* last = nullptr;
  for (const Run& run : snapshot.view.runs)
    if (run.key.subject == id && (last == nullptr || run.started >= last->started))
      last = &run;
  return last;
}

bool never_ran(const Run& run) {
  return run.reason == "exec_failed" || run.reason.starts_with("before");
}

/// `attempt 2 of 2, run 1a2b3c4d, exit 0`: the start that a step is about.
std::string attempt_text(const Snapshot& snapshot, const Step& step) {
  const StepRecord& record = snapshot.record(step.id);
  std::string text = "attempt " + std::to_string(record.attempts) + " of " +
                     std::to_string(snapshot.max_attempts(step));
  // A start that could not be made has no run. The last run is then that of an earlier attempt.
  const Run* const run = last_run(snapshot, step.id);
  if (run != nullptr && (record.last_error_code != "launch_failed" || never_ran(*run)))
    text +=
        ", " + run_name(*run) + (run->exit_code ? ", exit " + std::to_string(*run->exit_code) : "");
  return text;
}

std::string last_error(const StepRecord& record) {
  return printable(record.last_error.value_or("no reason given"), 300);
}

/// The last error of the step, and the last line of its agent's error output if it is not in there.
std::string failure_text(const Snapshot& snapshot, const Step& step) {
  const StepRecord& record = snapshot.record(step.id);
  const std::string text = last_error(record);
  const Run* const run = last_run(snapshot, step.id);
  const std::string said =
      run == nullptr || record.attempts == 0 ? std::string() : last_words(*run);
  const bool told =
      said.size() < 2 || text.find(said.substr(1, said.size() - 2)) != std::string::npos;
  return told ? text : text + ": " + said;
}

const Value* loop_items(const Value& root) {
  if (root.IsArray())
    return &root;
  const Value* const items = json::child(root, "items");
  return items != nullptr && items->IsArray() ? items : nullptr;
}

/// Fails a loop without items. This counts as its last attempt, so that the state shows when it
/// failed.
void fail_without_items(Snapshot& snapshot, const Step& step, const std::vector<std::string>& tried,
                        Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  record.attempts = snapshot.max_attempts(step);
  record.started_at = stamp(snapshot.view.wall);
  fail_attempt(snapshot, step, "launch_failed",
               tried.empty()
                   ? "there is no file with the items of the loop: the step in items_from_step "
                     "has no artifact inside the repository"
                   : "no list of items found: " + join(tried, "; "),
               decision);
}

/// Stores the items of the loop. False if no list was found.
bool store_items(Snapshot& snapshot, const Step& step, Decision& decision) {
  StepRecord& record = snapshot.record(step.id);
  const Value* items = json::child(*loop_of(step), "items");
  std::vector<std::string> tried;
  for (const std::string& path : item_files(snapshot, step)) {
    const Accepted* const file = items == nullptr ? snapshot.document(path) : nullptr;
    const bool there = file != nullptr && file->present;
    if (there)
      items = loop_items(file->document->root());
    tried.push_back(path + (there ? " has no list" : " is missing or not JSON"));
  }
  if (items == nullptr) {
    fail_without_items(snapshot, step, tried, decision);
    return false;
  }
  if (is_parallel(step) && items->Size() > kMostParallelItems) {
    record.attempts = snapshot.max_attempts(step);
    record.started_at = stamp(snapshot.view.wall);
    fail_attempt(snapshot, step, "launch_failed",
                 "the parallel loop has " + std::to_string(items->Size()) + " items; at most " +
                     std::to_string(kMostParallelItems) +
                     " are possible: leave `parallel` out, or give it fewer",
                 decision);
    return false;
  }
  record.loop_items = Json(*items);
  if (!items->Empty())
    return true;
  record.status = Status::completed;
  record.loop_completed = true;
  return true;
}

/// Whether the step still waits between two attempts, as the configuration says.
bool backing_off(Snapshot& snapshot, const Step& step, Decision& decision) {
  const StepRecord& record = snapshot.record(step.id);
  const StepMemo& memo = snapshot.memo.steps[step.id];
  if (record.attempts == 0 || memo.failed_ms == 0)
    return false;
  const Environment& env = snapshot.view.env;
  const RetryLimits limits = of_role(env.role_retry, role_of(step), env.retry);
  const Time due = Time(Millis(memo.failed_ms)) +
                   backoff_delay(limits, static_cast<std::uint32_t>(record.attempts), memo.label);
  if (snapshot.view.now >= due)
    return false;
  decision.wake = std::min(decision.wake.value_or(due), due);
  hold(decision, step, Situation::backing_off,
       attempt_text(snapshot, step) + ", failed: " + failure_text(snapshot, step) +
           "; next start at " + iso_time(due),
       "", due);
  return true;
}

bool gates_open(const Snapshot& snapshot, const Step& step, Decision& decision) {
  // baton does not watch a file outside the folder of the run, so it looks again.
  constexpr Millis kGateInterval{1000};
  const std::string& given = snapshot.settings.gate_state_file;
  const std::string file = given.empty() ? snapshot.paths.gates() : given;
  for (const std::string& gate : gates(step))
    if (!gate_open(snapshot, gate)) {
      const std::string fault = gate_fault(snapshot);
      hold(decision, step, Situation::gate_closed,
           "the gate `" + printable(gate, 100) + "` is not open: " + file +
               (fault.empty() ? " does not set it to true" : " cannot be used: " + fault));
      if (!fault.empty())
        decision.notices.push_back(Notice{
            "gates_unusable", "", "all gates are closed: " + file + " cannot be used: " + fault});
      if (!given.empty())
        decision.tidy = snapshot.view.now + kGateInterval;
      return false;
    }
  return true;
}

std::uint32_t interruptions(const Snapshot& snapshot, const std::string& id) {
  return static_cast<std::uint32_t>(
      std::count_if(snapshot.view.runs.begin(), snapshot.view.runs.end(), [&](const Run& run) {
        return run.key.subject == id && run.outcome == Outcome::interrupted;
      }));
}

void add_desired(Snapshot& snapshot, const Step& step, Decision& decision) {
  const StepRecord& record = snapshot.record(step.id);
  Desired desired;
  desired.role = role_of(step);
  desired.subject = step.id;
  desired.purpose = record.attempts > 0 ? "retry" : record.iterations > 0 ? "rework" : "work";
  // The run state counts the attempts. The engine only repeats interrupted runs.
  const Environment& env = snapshot.view.env;
  desired.retry = of_role(env.role_retry, desired.role, env.retry);
  desired.retry->max_attempts = 1 + interruptions(snapshot, step.id);
  desired.counts_refusal = true;
  // The start of an interrupted step is counted already.
  desired.first_attempt =
      static_cast<std::uint32_t>(record.attempts + (record.status == Status::pending ? 1 : 0));
  if (const auto timeout = json::integer(*step.body, "timeout")) {
    desired.limits = of_role(env.role_limits, desired.role, env.limits);
    desired.limits->timeout = std::chrono::seconds(*timeout);
  }
  desired.why = step.needs.empty() ? "the step needs no other step" : "the steps it needs are done";
  if (record.attempts > 0)
    desired.why = "attempt " + std::to_string(record.attempts + 1) + " of " +
                  std::to_string(snapshot.max_attempts(step));
  else if (record.iterations > 0)
    desired.why = "a gate has sent the work back " + std::to_string(record.iterations) + " times";
  else if (const Step* const loop = step.of.empty() ? nullptr : snapshot.workflow->step(step.of))
    desired.why = "item " + std::to_string(step.item + 1) + " of " +
                  std::to_string(item_count(*loop, snapshot.record(loop->id)));
  else if (!record.loop_items.is_null())
    desired.why = "item " + std::to_string(record.loop_index + 1) + " of " +
                  std::to_string(record.loop_items->Size());
  decision.desired.push_back(std::move(desired));
}

/// Archives an old report before the agent starts, so that baton cannot take it for the new one.
/// True if there was one.
bool put_aside(const Snapshot& snapshot, const Step& step, Decision& decision) {
  const std::string path = snapshot.paths.report(step.id);
  const Accepted* const old = snapshot.document(path);
  std::optional<Digest> digest;
  if (const auto bad = snapshot.view.rejected_digests.find(path);
      bad != snapshot.view.rejected_digests.end()) {
    // baton cannot move a file that it cannot read. Such a file contains no report.
    if (snapshot.view.rejected.at(path).find(R"("rule":"file")") == std::string::npos)
      digest = bad->second;
  } else if (old != nullptr && old->present) {
    digest = old->document->digest();
  }
  if (!digest)
    return false;
  std::string label = snapshot.step_memo(step.id).label;
  if (label.empty())
    label = "x" + std::to_string(snapshot.record(step.id).executions) + "_early";
  decision.updates.emplace_back(Move{path, *digest, snapshot.paths.archived_report(step.id, label),
                                     "archived before the step starts again"});
  return true;
}

/// The steps that have to come first.
std::vector<std::string> needed_by(const Snapshot& snapshot, const Step& step) {
  std::vector<std::string> steps;
  for (const std::string& id : step.needs)
    if (!snapshot.done(id))
      steps.push_back(id);
  if (const auto& loop = snapshot.record(step.id).blocked_by_loop; steps.empty() && loop)
    steps.push_back(*loop);
  return steps;
}

void plan_step(Snapshot& snapshot, const Step& step, const std::vector<std::string>& items_read,
               Decision& decision) {
  const StepRecord& record = snapshot.record(step.id);
  const Run* const run = snapshot.find(snapshot.step_memo(step.id).run);
  if (record.status == Status::running && run != nullptr && run->outcome == Outcome::interrupted) {
    add_desired(snapshot, step, decision);
    return;
  }
  if (record.status != Status::pending)
    return;
  if (!step.of.empty() && snapshot.record(step.of).status != Status::running)
    return;
  if (const auto needed = needed_by(snapshot, step); !needed.empty())
    return hold(decision, step, Situation::needs_steps,
                "waits for the " + std::string(needed.size() == 1 ? "step " : "steps ") +
                    printable(join(needed, ", "), 200));
  if (!gates_open(snapshot, step, decision))
    return;
  if (const Run* const live = snapshot.live(step.id)) {
    hold(decision, step, Situation::former_agent,
         "the former agent of the step, " + run_name(*live) + ", still runs");
    return;
  }
  if (wants_items(snapshot, step)) {
    // The needs became done in this round. baton reads the file before the next round.
    if (std::find(items_read.begin(), items_read.end(), step.id) == items_read.end())
      return;
    if (!store_items(snapshot, step, decision) || record.status != Status::pending)
      return;
  }
  if (is_parallel(step))
    return begin_items(snapshot, step);
  if (backing_off(snapshot, step, decision))
    return;
  if (!step.of.empty() && !has_place(snapshot, step, decision))
    return hold(decision, step, Situation::needs_steps,
                "waits for another item of the loop: at most " +
                    std::to_string(parallel(*snapshot.workflow->step(step.of))) +
                    " are at work at the same time");
  if (put_aside(snapshot, step, decision))
    return;
  add_desired(snapshot, step, decision);
}

void hold_for_person(const Snapshot& snapshot, const Step& step, Decision& decision) {
  hold(decision, step, Situation::approval_wanted,
       "the step " + quoted_word(step.id) +
           " is done and waits for a person to approve or reject it; " +
           (is_parallel(step) ? "the reports of its items are in " + snapshot.paths.reports()
                              : "its report is " + snapshot.paths.report(step.id)) +
           ", and the decision may also stand in " + snapshot.paths.manual_input(step.id),
       command("approve", snapshot.view.flow, step.id));
}

bool decision_holds_run(const Decision& decision) {
  return std::any_of(decision.holds.begin(), decision.holds.end(), [](const Hold& hold) {
    return hold.cause == cause_of(Situation::cost_limit);
  });
}

RunStatus status_of(const Snapshot& snapshot, const Decision& decision) {
  if (snapshot.any_failed())
    return RunStatus::failed;
  const auto& left_out = snapshot.memo.steps;
  if (std::any_of(left_out.begin(), left_out.end(),
                  [](const auto& row) { return row.second.cancelled; }))
    return RunStatus::cancelled;
  if (snapshot.all_done())
    return RunStatus::completed;
  if (snapshot.view.control == Control::stop)
    return RunStatus::cancelled;
  if (snapshot.view.control == Control::pause || decision_holds_run(decision))
    return RunStatus::paused;
  bool waiting = false;
  for (const auto& [id, step] : snapshot.run.steps) {
    if (step.status == Status::running)
      return RunStatus::running;
    waiting = waiting || step.status == Status::waiting_on_human;
  }
  return waiting && decision.desired.empty() ? RunStatus::waiting : RunStatus::running;
}

bool is_failed(const Snapshot& snapshot, const Subject& subject) {
  const auto step = snapshot.run.steps.find(subject);
  return step != snapshot.run.steps.end() && step->second.status == Status::failed;
}

Situation failure_of(const StepRecord& record) {
  const std::string code = record.last_error_code.value_or("");
  return code == "rejected"     ? Situation::rejected_by_person
         : code == "gate_limit" ? Situation::gate_limit
         : code == "cost_limit" ? Situation::cost_limit_failed
                                : Situation::attempts_used_up;
}

/// `retry`, and what has to be mended before it helps.
std::string remedy_for(const StepRecord& record, Situation situation, const std::string& retry) {
  if (situation == Situation::cost_limit_failed)
    return std::string(kRaise) + ", then `" + retry + "`";
  if (record.last_error_code == "launch_failed")
    return "mend what `why` names (`baton doctor` checks programs and prompts), then `" + retry +
           "`";
  return retry;
}

/// Whether the step has failed because of an item, which is named instead.
bool has_failed_item(const Snapshot& snapshot, const Step& step) {
  const auto items = items_of(snapshot, step);
  return std::any_of(items.begin(), items.end(), [&](const Step* item) {
    return snapshot.record(item->id).status == Status::failed;
  });
}

/// Says which steps failed, and why.
void report_failed_steps(const Snapshot& snapshot, Decision& decision) {
  const auto& steps = snapshot.run.steps;
  const bool several = std::count_if(steps.begin(), steps.end(), [](const auto& row) {
                         return row.second.status == Status::failed;
                       }) > 1;
  for (const Step& step : snapshot.workflow->steps()) {
    const StepRecord& record = snapshot.record(step.id);
    if (record.status != Status::failed || has_failed_item(snapshot, step))
      continue;
    const Situation situation = failure_of(record);
    const std::string retry = command("retry", snapshot.view.flow, several ? "" : step.id);
    hold(decision, step, situation,
         "the step " + quoted_word(step.id) +
             (situation == Situation::rejected_by_person
                  ? " was rejected by a person: " + last_error(record)
                  : " has failed" +
                        (record.attempts > 0 ? " (" + attempt_text(snapshot, step) + ")" : "") +
                        ": " + failure_text(snapshot, step)),
         remedy_for(record, situation, retry));
  }
}

/// Stops agents whose work a loop-back has sent back. An agent whose report was accepted early ends
/// by itself.
void release_sent_back(const Snapshot& snapshot, Decision& decision) {
  for (const auto& [id, record] : snapshot.run.steps) {
    const Run* const live = snapshot.live(id);
    if (live != nullptr && snapshot.step_memo(id).early != live->id)
      decision.releases.push_back(
          Release{"", id, false, Millis(0), "a loop-back sent the work back"});
  }
}

}  // namespace

void add_cost(Snapshot& snapshot, const Run& run, const Report& report, Decision& decision) {
  const double reported = amount(*report.metrics, "cost_usd");
  const double cost = reported > kMostCost ? 0 : reported;
  const double tokens = tokens_of(*report.metrics);
  if (cost > 0 || tokens > 0)
    decision.spent.push_back(
        Spent{run.id, cost > 0 ? std::optional(cost) : std::nullopt,
              tokens > 0 ? std::optional(static_cast<std::int64_t>(tokens)) : std::nullopt});
  if (cost <= 0)
    return;
  const std::string day = day_of(snapshot.view.wall);
  if (snapshot.memo.cost_day != day)
    snapshot.memo.cost_usd = 0;
  snapshot.memo.cost_day = day;
  snapshot.memo.cost_usd += cost;
}

std::string daily_stats(const Snapshot& snapshot) {
  return snapshot.paths.in_repository(".agents/daily_stats/" + day_of(snapshot.view.wall) +
                                      ".json");
}

std::string over_budget(const Snapshot& snapshot) {
  const auto limit = snapshot.settings.daily_cost_limit;
  const double cost = limit ? today(snapshot) : 0;
  if (!limit || cost < *limit)
    return {};
  return "today cost " + dollars(cost) + "; daily_cost_limit is " + dollars(*limit);
}

bool apply_cost_limit(Snapshot& snapshot, Decision& decision) {
  const std::string why = over_budget(snapshot);
  if (why.empty() || snapshot.all_done())
    return false;
  decision.notices.push_back(Notice{"cost_limit", "", why});
  if (snapshot.settings.on_cost == OnCost::warn)
    return false;
  if (snapshot.settings.on_cost == OnCost::fail) {
    for (const Step& step : snapshot.workflow->steps())
      if (snapshot.record(step.id).status == Status::pending)
        fail_for_good(snapshot, step, "cost_limit", why, decision);
    return true;
  }
  decision.holds.push_back(Hold{"", "", cause_of(Situation::cost_limit), why,
                                std::string(kRaise) + "; `baton doctor` checks the file",
                                next_day(snapshot.view)});
  // Looks again soon, because the day may end and other programs may change the statistics.
  const Time next = snapshot.view.now + kLookAgain;
  decision.tidy = std::min(decision.tidy.value_or(next), next);
  return true;
}

std::vector<std::string> steps_wanting_items(const Snapshot& snapshot) {
  std::vector<std::string> all;
  if (snapshot.workflow)
    for (const Step& step : snapshot.workflow->steps())
      if (wants_items(snapshot, step))
        all.push_back(step.id);
  return all;
}

void take_standing(const Snapshot& snapshot, Decision& decision) {
  Standing& standing = decision.standing;
  standing.cause = cause_of(Situation::under_way);
  switch (snapshot.run.status) {
    case RunStatus::completed:
      standing.cause = cause_of(Situation::completed);
      standing.why =
          "all " + std::to_string(snapshot.run.steps.size()) + " steps are COMPLETED or SKIPPED";
      return;
    case RunStatus::cancelled:
      standing.cause = cause_of(Situation::cancelled);
      standing.why = "the run was cancelled by `baton stop`";
      standing.action = command("resume", snapshot.view.flow);
      return;
    case RunStatus::failed: {
      // Of several failed steps the one that counts first.
      const Hold* first = nullptr;
      for (const Hold& hold : decision.holds)
        if (is_failed(snapshot, hold.subject) &&
            (first == nullptr || before(hold.cause, first->cause)))
          first = &hold;
      if (first != nullptr)
        standing = Standing{first->cause, first->why, first->action, first->until};
      return;
    }
    case RunStatus::running:
    case RunStatus::waiting:
    case RunStatus::paused:
      return;
  }
}

void plan_next_steps(Snapshot& snapshot, const std::vector<std::string>& items_read,
                     Decision& decision) {
  const bool spent = !snapshot.any_failed() && apply_cost_limit(snapshot, decision);
  for (const Step& step : snapshot.workflow->steps()) {
    // After a failed step nothing more starts.
    if (!spent && !snapshot.any_failed())
      plan_step(snapshot, step, items_read, decision);
    if (snapshot.record(step.id).status == Status::waiting_on_human)
      hold_for_person(snapshot, step, decision);
  }
  release_sent_back(snapshot, decision);
  if (snapshot.any_failed()) {
    report_failed_steps(snapshot, decision);
    decision.desired.clear();
    if (!snapshot.settings.drain)
      decision.releases.push_back(
          Release{"", "", true, Millis(0), "another step of the run failed (fail_fast)"});
  }
  snapshot.run.status = status_of(snapshot, decision);
}

}  // namespace baton::agent_run
