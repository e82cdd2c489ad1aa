#include <algorithm>

#include "base/text.h"
#include "core/reconcile.h"
#include "dialects/agent_run/decide.h"
#include "dialects/findings.h"

namespace baton::agent_run {
namespace {

void hold(Decision& decision, const Step& step, Word reason, std::string why) {
  decision.holds.push_back(Hold{role_of(step), step.id, std::move(reason), std::move(why)});
}

const Value* items_in(const Value& root) {
  if (root.IsArray())
    return &root;
  const Value* const items = json::child(root, "items");
  return items != nullptr && items->IsArray() ? items : nullptr;
}

/// A step without items cannot begin. It counts as an attempt, so that the state says when.
void no_items(Scene& scene, const Step& step, const std::vector<std::string>& tried,
              Decision& decision) {
  StepRecord& record = scene.record(step.id);
  record.attempts = scene.max_attempts(step);
  record.started_at = stamp(scene.view.wall);
  fail_attempt(scene, step, "launch_failed",
               tried.empty()
                   ? "there is no file with the items of the loop: the step it takes them "
                     "from has no artifact below the repository"
                   : "no list of items: " + join(tried, "; "),
               decision);
}

/// Fixes the items when the step may begin; false when there are none to be had.
bool fix_items(Scene& scene, const Step& step, Decision& decision) {
  StepRecord& record = scene.record(step.id);
  const Value* items = json::child(*loop_of(step), "items");
  std::vector<std::string> tried;
  for (const std::string& path : item_places(scene, step)) {
    const Accepted* const file = items == nullptr ? scene.document(path) : nullptr;
    const bool there = file != nullptr && file->present;
    if (there)
      items = items_in(file->document->root());
    tried.push_back(path + (there ? " holds none" : " is not there, or is no JSON"));
  }
  if (items == nullptr) {
    no_items(scene, step, tried, decision);
    return false;
  }
  record.loop_items = Json(*items);
  if (!items->Empty())
    return true;
  record.status = Status::completed;
  record.loop_completed = true;
  return true;
}

/// Waits between the attempts of a step, as the configuration has it.
bool backing_off(Scene& scene, const Step& step, Decision& decision) {
  const StepRecord& record = scene.record(step.id);
  const StepMemo& memo = scene.memo.steps[step.id];
  if (record.attempts == 0 || memo.failed_ms == 0)
    return false;
  const Environment& env = scene.view.env;
  const RetryLimits limits = of_role(env.role_retry, role_of(step), env.retry);
  const Time due = Time(Millis(memo.failed_ms)) +
                   backoff_delay(limits, static_cast<std::uint32_t>(record.attempts), memo.label);
  if (scene.view.now >= due)
    return false;
  decision.wake = std::min(decision.wake.value_or(due), due);
  hold(decision, step, "backing_off",
       "attempt " + std::to_string(record.attempts) + " failed; next start at " + iso_time(due));
  return true;
}

bool gates_open(const Scene& scene, const Step& step, Decision& decision) {
  // A file outside of the run's folder is not watched.
  constexpr Millis kGateInterval{1000};
  const std::string& given = scene.settings.gate_state_file;
  const std::string file = given.empty() ? scene.places.gates() : given;
  for (const std::string& gate : gates(step))
    if (!gate_open(scene, gate)) {
      const std::string fault = gate_fault(scene);
      hold(decision, step, "gate_closed",
           "the gate `" + printable(gate, 100) + "` is not open: " + file +
               (fault.empty() ? " does not say true for it" : " opens none, for " + fault));
      if (!fault.empty())
        decision.notices.push_back(
            Notice{"gates_unusable", "", file + " closes all gates: " + fault});
      if (!given.empty())
        decision.tidy = scene.view.now + kGateInterval;
      return false;
    }
  return true;
}

std::uint32_t interruptions(const Scene& scene, const std::string& id) {
  return static_cast<std::uint32_t>(
      std::count_if(scene.view.runs.begin(), scene.view.runs.end(), [&](const Run& run) {
        return run.key.subject == id && run.outcome == Outcome::interrupted;
      }));
}

void want(Scene& scene, const Step& step, Decision& decision) {
  const StepRecord& record = scene.record(step.id);
  Desired desired;
  desired.role = role_of(step);
  desired.subject = step.id;
  desired.purpose = record.attempts > 0 ? "retry" : record.iterations > 0 ? "rework" : "work";
  // Attempts are counted in the run state; the engine repeats only what was interrupted.
  const Environment& env = scene.view.env;
  desired.retry = of_role(env.role_retry, desired.role, env.retry);
  desired.retry->max_attempts = 1 + interruptions(scene, step.id);
  desired.counts_refusal = true;
  if (const auto timeout = json::integer(*step.body, "timeout")) {
    desired.limits = of_role(env.role_limits, desired.role, env.limits);
    desired.limits->timeout = std::chrono::seconds(*timeout);
  }
  desired.why = step.needs.empty() ? "it needs no other step" : "what it needs is done";
  if (record.attempts > 0)
    desired.why = "attempt " + std::to_string(record.attempts + 1) + " of " +
                  std::to_string(scene.max_attempts(step));
  else if (record.iterations > 0)
    desired.why = "a gate has sent the work back " + std::to_string(record.iterations) + " times";
  else if (!record.loop_items.is_null())
    desired.why = "item " + std::to_string(record.loop_index + 1) + " of " +
                  std::to_string(record.loop_items->Size());
  decision.desired.push_back(std::move(desired));
}

/// An old report is put aside before the agent begins, so that it can never be taken for news.
bool put_aside(const Scene& scene, const Step& step, Decision& decision) {
  const std::string path = scene.places.report(step.id);
  const Accepted* const old = scene.document(path);
  std::optional<Digest> digest;
  if (const auto bad = scene.view.rejected_digests.find(path);
      bad != scene.view.rejected_digests.end()) {
    // What could not even be read cannot be put aside; there is no report in it either.
    if (scene.view.rejected.at(path).find(R"("rule":"file")") == std::string::npos)
      digest = bad->second;
  } else if (old != nullptr && old->present) {
    digest = old->document->digest();
  }
  if (!digest)
    return false;
  const auto memo = scene.memo.steps.find(step.id);
  const std::string label = memo == scene.memo.steps.end() || memo->second.label.empty()
                                ? "x" + std::to_string(scene.record(step.id).executions) + "_early"
                                : memo->second.label;
  decision.updates.emplace_back(Move{path, *digest, scene.places.archived_report(step.id, label),
                                     "put aside before the step begins anew"});
  return true;
}

void route_step(Scene& scene, const Step& step, const std::vector<std::string>& asked,
                Decision& decision) {
  const StepRecord& record = scene.record(step.id);
  const Run* const run = scene.find(scene.memo.steps[step.id].run);
  if (record.status == Status::running && run != nullptr && run->outcome == Outcome::interrupted) {
    want(scene, step, decision);
    return;
  }
  if (record.status != Status::pending || !scene.needs_done(step) || record.blocked_by_loop)
    return;
  if (!gates_open(scene, step, decision))
    return;
  if (scene.live(step.id) != nullptr) {
    hold(decision, step, "still_running", "its former agent is still at work");
    return;
  }
  if (wants_items(scene, step)) {
    // What it needs was done in this very moment: the file is looked at in the next round.
    if (std::find(asked.begin(), asked.end(), step.id) == asked.end())
      return;
    if (!fix_items(scene, step, decision) || record.status != Status::pending)
      return;
  }
  if (backing_off(scene, step, decision) || put_aside(scene, step, decision))
    return;
  want(scene, step, decision);
}

void ask_person(const Scene& scene, const Step& step, Decision& decision) {
  const std::string flow = scene.view.flow.name;
  hold(decision, step, "waiting_for_person",
       "a person decides: read " + scene.places.report(step.id) + ", then `baton approve " + flow +
           " " + step.id + "` or `baton reject " + flow + " " + step.id +
           " --comment TEXT`, or write " + scene.places.manual_input(step.id));
}

bool decision_holds_run(const Decision& decision) {
  return std::any_of(decision.holds.begin(), decision.holds.end(),
                     [](const Hold& hold) { return hold.reason == "cost_limit"; });
}

RunStatus status_of(const Scene& scene, const Decision& decision) {
  if (scene.any_failed())
    return RunStatus::failed;
  const auto& left_out = scene.memo.steps;
  if (std::any_of(left_out.begin(), left_out.end(),
                  [](const auto& row) { return row.second.cancelled; }))
    return RunStatus::cancelled;
  if (scene.all_done())
    return RunStatus::completed;
  if (scene.view.control == Control::stop)
    return RunStatus::cancelled;
  if (scene.view.control == Control::pause || decision_holds_run(decision))
    return RunStatus::paused;
  bool waiting = false;
  for (const auto& [id, step] : scene.run.steps) {
    if (step.status == Status::running)
      return RunStatus::running;
    waiting = waiting || step.status == Status::waiting_on_human;
  }
  return waiting && decision.desired.empty() ? RunStatus::waiting : RunStatus::running;
}

/// What keeps the run from going on, and what to do about it.
void tell_failed(const Scene& scene, Decision& decision) {
  const std::string flow = scene.view.flow.name;
  for (const Step& step : scene.workflow->steps())
    if (const StepRecord& record = scene.record(step.id); record.status == Status::failed)
      hold(decision, step, "step_failed",
           "the step " + quoted_word(step.id) +
               " has FAILED: " + printable(record.last_error.value_or("it does not say why"), 300) +
               "; when that is put right, `baton retry " + flow + "` or `baton start " + flow +
               " --start-at-step STEP`");
}

/// Agents whose work was sent back are ended; one whose report was taken early ends by itself.
void release_sent_back(const Scene& scene, Decision& decision) {
  for (const Step& step : scene.workflow->steps()) {
    const Run* const live = scene.live(step.id);
    const auto memo = scene.memo.steps.find(step.id);
    if (live != nullptr && (memo == scene.memo.steps.end() || memo->second.early != live->id))
      decision.releases.push_back(Release{"", step.id, false, Millis(0),
                                          "a loop-back has sent the work back before it was done"});
  }
}

}  // namespace

std::vector<std::string> wanting_items(const Scene& scene) {
  std::vector<std::string> all;
  if (scene.workflow)
    for (const Step& step : scene.workflow->steps())
      if (wants_items(scene, step))
        all.push_back(step.id);
  return all;
}

void route(Scene& scene, const std::vector<std::string>& asked, Decision& decision) {
  const bool spent = !scene.any_failed() && settle_cost(scene, decision);
  for (const Step& step : scene.workflow->steps()) {
    // A step that has failed ends the run: nothing more begins.
    if (!spent && !scene.any_failed())
      route_step(scene, step, asked, decision);
    if (scene.record(step.id).status == Status::waiting_on_human)
      ask_person(scene, step, decision);
  }
  release_sent_back(scene, decision);
  if (scene.any_failed()) {
    tell_failed(scene, decision);
    decision.desired.clear();
    decision.failed = true;
    if (!scene.settings.drain)
      decision.releases.push_back(
          Release{"", "", true, Millis(0), "another step of the run has failed (fail_fast)"});
  }
  scene.run.status = status_of(scene, decision);
}

}  // namespace baton::agent_run
