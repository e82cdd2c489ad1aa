// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/run_text.h"
#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/conditions.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

constexpr Millis kLinger{60'000};
constexpr Millis kPauseGrace{60'000};
constexpr std::uint32_t kMostRejected = 3;

void hold(Decision& decision, Situation situation, std::string why, std::string action,
          Subject subject = "") {
  decision.holds.push_back(
      Hold{"", std::move(subject), cause_of(situation), std::move(why), std::move(action)});
}

void stand(Decision& decision, Situation situation, std::string why, std::string action) {
  decision.standing = Standing{cause_of(situation), std::move(why), std::move(action), {}};
}

/// Twice the time limits, if the recovery strategy of the entry asks for that.
std::optional<RunLimits> extended(const Snapshot& snapshot, const Entry* entry) {
  if (entry == nullptr)
    return std::nullopt;
  const auto tried = recoveries(*entry);
  const std::string strategy = entry->status == "failed" ? next_strategy(snapshot, *entry)
                               : tried.Empty()           ? ""
                                               : text_of(tried[tried.Size() - 1], "strategy");
  if (strategy != "retry_with_extended_timeout")
    return std::nullopt;
  RunLimits limits;
  const std::int64_t timeout_s =
      count_of(member(error_of(*entry), "error_details"), "timeout_duration");
  constexpr std::int64_t kDay = 86'400;
  if (timeout_s > 0)
    limits.timeout = Millis(std::min(timeout_s, kDay) * 2'000);
  else
    limits.timeout *= 2;
  for (const Run& run : snapshot.view.runs)
    if (run.key.subject == subject_of(*entry) &&
        run.key.generation < snapshot.generation(run.key.subject)) {
      limits = run.limits;
      limits.timeout *= 2;
    }
  limits.idle_timeout *= 2;
  return limits;
}

/// The time limit of a step in the options; nothing: the limits of the role.
std::optional<RunLimits> own_limits(const Snapshot& snapshot, const Work& work) {
  const auto timeout = parse_duration(
      text_of(member(*snapshot.view.options, "timeouts"), std::to_string(work.step)));
  if (!timeout)
    return std::nullopt;
  const Environment& env = snapshot.view.env;
  RunLimits limits = of_role(env.role_limits, Role(agent_of(work.step)), env.limits);
  limits.timeout = *timeout;
  return limits;
}

void add_desired(const Snapshot& snapshot, const Work& work, const std::string& why,
                 Decision& decision) {
  Desired desired;
  desired.role = agent_of(work.step);
  desired.subject = subject_of(work);
  desired.purpose = purpose_of(work.step);
  // The agent of a failed entry may still run. The claim keeps a second agent away from the step.
  desired.claims.push_back(Claim{"step " + text(snapshot.view.flow) + "#" + desired.subject, 1});
  desired.limits = extended(snapshot, snapshot.newest(desired.subject));
  if (!desired.limits)
    desired.limits = own_limits(snapshot, work);
  desired.first_attempt =
      static_cast<std::uint32_t>(attempt_at(snapshot, snapshot.newest(desired.subject)));
  desired.why = why;
  decision.desired.push_back(std::move(desired));
}

void pause_for_person(Snapshot& snapshot, const std::string& limit, const std::string& why,
                      Edits& edits, Decision& decision) {
  edits.set("/status", "paused");
  edits.add_reason(why);
  snapshot.memo.escalated = limit;
  ++snapshot.memo.escalations;
  edits.set("/metrics/human_interventions", Json(interventions(snapshot)));
  decision.notices.push_back(Notice{"escalated", "", why});
}

/// Asks a person for an approval, and reminds people of it. Waiting never counts as a decision; at
/// most baton pauses the workflow.
void ask(Snapshot& snapshot, const NextStep& found, Edits& edits, Decision& decision) {
  const ValidationMark about = validation_mark(snapshot, found.approval);
  const std::int64_t now = snapshot.view.now.time_since_epoch().count();
  AskedApproval& waiting = snapshot.memo.asked_approval;
  if (waiting.approval != found.approval || waiting.entry != about.entry)
    waiting = AskedApproval{found.approval, about.entry, now};
  const Millis waited(std::max<std::int64_t>(0, now - waiting.since_ms));
  const Time since{Millis(waiting.since_ms)};
  const Options& options = snapshot.options;
  if (options.approval_patience > Millis(0)) {
    if (waited >= options.approval_patience)
      return pause_for_person(
          snapshot, "approval",
          found.approval + " was not decided within " + duration_text(options.approval_patience),
          edits, decision);
    decision.tidy = since + options.approval_patience;
  }
  hold(decision, Situation::approval, found.why,
       command("approve", snapshot.view.flow, found.approval), found.approval);
  if (options.reminders > Millis(0)) {
    const auto times = waited / options.reminders;
    // The hold itself is the first notification.
    if (times > 0)
      decision.notices.push_back(
          Notice{"reminder", found.approval,
                 found.why + " (waiting for " + duration_text(times * options.reminders) + ")"});
    const Time next_reminder = since + (times + 1) * options.reminders;
    decision.tidy = std::min(decision.tidy.value_or(next_reminder), next_reminder);
  }
}

void enter_phase_2(const Snapshot& snapshot, Edits& edits) {
  const Round round = judge_round(snapshot.root, snapshot.entries, true);
  const bool needs_approval = required(snapshot.view.options, "plan");
  edits.append(
      "/phase_transitions",
      Json::object({{"from_phase", "phase_1"},
                    {"to_phase", "phase_2"},
                    {"trigger", "convergence_achieved"},
                    {"timestamp", snapshot.now()},
                    {"validation_scores", json_of(round.scores)},
                    {"human_approval_required", Json(needs_approval)},
                    {"human_approval_status", needs_approval ? Json("approved") : Json()}}));
  edits.set("/current_phase", "phase_2");
}

void act(Snapshot& snapshot, const NextStep& found, Edits& edits, Decision& decision) {
  switch (found.kind) {
    case NextStep::Kind::nothing:
      break;
    case NextStep::Kind::work:
      for (const Work& work : found.works)
        add_desired(snapshot, work, found.why, decision);
      break;
    case NextStep::Kind::approval:
      ask(snapshot, found, edits, decision);
      break;
    case NextStep::Kind::phase_2:
      enter_phase_2(snapshot, edits);
      edits.add_reason(found.why);
      break;
    case NextStep::Kind::phase_1:
      record_return(snapshot, edits);
      edits.add_reason(found.why);
      break;
    case NextStep::Kind::escalate:
      pause_for_person(snapshot, found.limit, found.why, edits, decision);
      break;
    case NextStep::Kind::end:
      edits.set("/status", Json(found.status));
      edits.add_reason(found.why);
      break;
  }
}

/// Work in progress stays wanted until its entry has ended.
void keep_working(const Snapshot& snapshot, Decision& decision) {
  for (const Entry& entry : snapshot.entries)
    if (entry.status == "in_progress")
      add_desired(snapshot, Work{entry.step, entry.half},
                  "step " + subject_of(entry) + " is in progress", decision);
}

/// Decides while the state file is rejected. baton does not write over it. It starts the agent
/// again with the findings, three runs in all, so that the agent can correct the file. After that a
/// person must correct it.
void rejected(const Snapshot& snapshot, Decision& decision) {
  bool working = false;
  for (const Entry& entry : snapshot.entries) {
    const Subject subject = subject_of(entry);
    if (entry.status != "in_progress" || snapshot.status == Status::paused || snapshot.has_ended())
      continue;
    std::uint32_t ended = 0;
    for (const Run& run : snapshot.view.runs)
      if (snapshot.works_on(run, subject) && !run.live() && run.outcome != Outcome::voided &&
          !says_nothing(run.outcome))
        ++ended;
    working = working || snapshot.live(subject) != nullptr;
    if (snapshot.live(subject) != nullptr || ended == 0 || ended >= kMostRejected)
      continue;
    add_desired(snapshot, Work{entry.step, entry.half},
                "retry_with_corrected_input: the agent left a file that was rejected", decision);
    decision.desired.back().turn = ended;
  }
  if (!decision.desired.empty() || working)
    decision.own_faults.push_back(snapshot.path);
  else
    hold(decision, Situation::rejected,
         snapshot.path + " was rejected (" + first_error(snapshot.path, snapshot.file.rejected) +
             ")",
         "correct " + snapshot.path + " (`baton validate " + shell_word(snapshot.path) +
             "` shows what is wrong), or put its last good version back: `" +
             command("recover", snapshot.view.flow) + " --write`");
}

void remember_decisions(Snapshot& snapshot) {
  for (const std::string_view approval : kApprovals)
    if (ValidationMark about = validation_mark(snapshot, approval); about.entry >= 0)
      snapshot.memo.marks[std::string(approval)] = about;
  snapshot.memo.decisions = list_at(snapshot.root, kDecisions).Size();
}

/// The run in which an entry failed, for a sentence: ` (run 1a2b3c4d, its last line: "...")`. Its
/// stage is over, so the view may not have it any more. Then only its id is known.
std::string named_run(const Snapshot& snapshot, const Entry& failed) {
  const std::string id = text_of(member(error_of(failed), "error_details"), "run");
  const Run* found = nullptr;
  for (const Run& run : snapshot.view.runs)
    if (!run.live() && run.outcome != Outcome::voided &&
        (id.empty() ? run.key.subject == subject_of(failed) : run.id == id))
      found = &run;
  if (found == nullptr)
    return id.empty() ? "" : " (run " + printable(id.substr(0, 8), 8) + ")";
  const std::string said = last_words(*found);
  return " (" + run_name(*found) + (said.empty() ? "" : ", its last line: " + said) + ")";
}

/// The newest failure, for a message: "step 3 failed: critical_error: no such project", with its
/// run.
std::string newest_failure(const Snapshot& snapshot) {
  const auto failed = std::find_if(snapshot.entries.rbegin(), snapshot.entries.rend(),
                                   [](const Entry& entry) { return entry.status == "failed"; });
  if (failed == snapshot.entries.rend())
    return {};
  const std::string how = failure_text(*failed);
  return "step " + std::to_string(failed->step) + " failed" + (how.empty() ? "" : ": " + how) +
         named_run(snapshot, *failed);
}

/// Which limit made baton pause the workflow.
std::string limit_text(const Snapshot& snapshot) {
  const std::string& limit = snapshot.memo.escalated;
  if (limit == "steps")
    return "its history has " + std::to_string(snapshot.entries.size()) +
           " steps (option max_steps)";
  const bool plan = limit == "phase_1";
  return (plan ? "the last of " : "the code did not pass ") +
         std::to_string(attempts(snapshot, limit)) +
         (plan ? " plans did not pass: " : " times; the last time: ") +
         judge_round(snapshot.root, snapshot.entries, plan).why;
}

/// baton has paused the workflow for a person.
Standing question(const Snapshot& snapshot) {
  const FlowId& flow = snapshot.view.flow;
  const std::string& limit = snapshot.memo.escalated;
  if (limit == "approval") {
    const std::string& approval = snapshot.memo.asked_approval.approval;
    if (next_when_running(snapshot).kind == NextStep::Kind::approval)
      return {cause_of(Situation::approval_overdue),
              "the approval `" + approval + "` was not decided within " +
                  duration_text(snapshot.options.approval_patience) +
                  ", so baton has paused the workflow",
              command("approve", flow, approval),
              {}};
    return {cause_of(Situation::approval_decided),
            "the approval `" + approval + "` was decided while the workflow was paused",
            command("resume", flow),
            {}};
  }
  const bool failure = limit == "recovery";
  const std::string cause = failure ? newest_failure(snapshot) : limit_text(snapshot);
  return {cause_of(failure ? Situation::step_failed : Situation::limit_reached),
          "baton has paused the workflow: " + (cause.empty() ? "a step failed" : cause),
          command("answer", flow) + " --comment TEXT",
          {}};
}

void paused(Snapshot& snapshot, Decision& decision) {
  decision.control = Control::pause;
  if (snapshot.memo.paused_ms == 0)
    snapshot.memo.paused_ms = snapshot.view.now.time_since_epoch().count();
  decision.end_at = Time(Millis(snapshot.memo.paused_ms)) + kPauseGrace;
  if (snapshot.memo.escalated.empty())
    return stand(decision, Situation::paused, snapshot.path + " says paused",
                 command("resume", snapshot.view.flow));
  decision.standing = question(snapshot);
  const bool approval = snapshot.memo.escalated == "approval";
  decision.holds.push_back(Hold{"", approval ? snapshot.memo.asked_approval.approval : "",
                                decision.standing.cause, decision.standing.why,
                                decision.standing.action});
}

void route(Snapshot& snapshot, Edits& edits, Decision& decision) {
  if (snapshot.status == Status::paused && !snapshot.memo.escalated.empty()) {
    // The answer of a person covers all failures so far, so baton records them first.
    record_ends(snapshot, edits, decision);
    if (!edits.empty())
      return;
  }
  if (snapshot.status != Status::paused) {
    snapshot.memo.paused_ms = 0;
    record_starts(snapshot, edits);
    record_ends(snapshot, edits, decision);
    if (!edits.empty())
      return;
    record_rounds(snapshot, edits);
    record_counters(snapshot, edits);
    if (!edits.empty())
      return;
  }
  const bool asks = snapshot.status == Status::paused && snapshot.memo.escalated == "approval";
  // During a pause for an approval, the approval may still be decided.
  const NextStep found = asks ? next_when_running(snapshot) : next_step(snapshot);
  if (answer_requests(snapshot, found, edits, decision))
    return;
  if (snapshot.status == Status::paused) {
    paused(snapshot, decision);
    return;
  }
  keep_working(snapshot, decision);
  act(snapshot, found, edits, decision);
}

/// Remembers ended runs, and stops runs whose work was given up.
void release_runs(Snapshot& snapshot, Decision& decision) {
  decision.releases.push_back(
      Release{"", "", false, kLinger, "the work is done but the agent still runs"});
  Memo& memo = snapshot.memo;
  memo.over.clear();
  std::set<RunId> gave_up;
  for (const Run& run : snapshot.view.runs) {
    if (!run.live()) {
      memo.over.insert(run.id);
      continue;
    }
    if (memo.gave_up.contains(run.id))
      gave_up.insert(run.id);
    if (snapshot.generation(run.key.subject) == 0)
      decision.releases.push_back(Release{run.key.role, run.key.subject, true, Millis(0),
                                          "its step was given up: the plan is being remade"});
  }
  memo.gave_up = std::move(gave_up);
}

void ended(const Snapshot& snapshot, Decision& decision) {
  const auto& runs = snapshot.view.runs;
  decision.control =
      std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.live(); })
          ? Control::stop
          : Control::idle;
  const FlowId& flow = snapshot.view.flow;
  if (snapshot.status == Status::completed)
    return stand(decision, Situation::completed, "the code passed and is approved", "");
  if (const NextStep again = next_when_running(snapshot); is_rejection(again))
    return stand(decision, Situation::rejected_by_person, again.why,
                 command("revise", flow) + " --comment TEXT");
  const std::string failure = newest_failure(snapshot);
  const std::string says = snapshot.path + " says " + text_of(snapshot.root, "status");
  const bool failed = snapshot.status == Status::failed;
  stand(decision, failed ? Situation::failed : Situation::cancelled,
        failed && !failure.empty() ? says + ": " + failure : says, command("resume", flow));
}

/// Progress, and the steps that are at their end.
void report_progress(const Snapshot& snapshot, Decision& decision) {
  decision.progress = progress(snapshot);
  for (const Entry& entry : snapshot.entries) {
    decision.order.push_back(subject_of(entry));
    decision.attempts_max[subject_of(entry)] = static_cast<std::uint32_t>(attempts_max(entry));
  }
  for (const auto& [subject, state] : snapshot.view.stages)
    if (snapshot.status == Status::completed || state.stage.starts_with("done "))
      decision.ends.push_back(subject);
}

/// Decides while the state file is missing, so that baton cannot write it.
void gone(Snapshot& snapshot, Decision& decision) {
  const std::string why = snapshot.path + " is gone";
  const std::string recover = command("recover", snapshot.view.flow) + " --write";
  stand(decision, Situation::state_gone, why, recover);
  hold(decision, Situation::state_gone, why, recover);
  if (snapshot.status == Status::paused)
    paused(snapshot, decision);
  else if (snapshot.has_ended())
    ended(snapshot, decision);
  else
    keep_working(snapshot, decision);
  refuse_requests(snapshot, " is missing; restore it first with `" + recover + "`", decision);
}

}  // namespace

Decision decide(const View& view) {
  Decision decision;
  decision.memo = view.memo;
  auto snapshot = snapshot_of(view);
  if (!snapshot) {
    decision.control = Control::idle;
    if (const auto file = view.rejected.begin(); file != view.rejected.end())
      stand(decision, Situation::rejected,
            file->first + " was rejected (" + first_error(file->first, file->second) + ")",
            "correct " + file->first + " (`baton validate " + shell_word(file->first) +
                "` shows what is wrong)");
    return decision;
  }
  stand(decision, Situation::running, "no step is due", "");
  decision.declared = text_of(snapshot->root, "status");
  release_runs(*snapshot, decision);
  Edits edits(*snapshot);
  if (!snapshot->file.present) {
    gone(*snapshot, decision);
  } else if (!snapshot->file.rejected.empty()) {
    // First what is wrong with the file, because no answer is taken before it is right. A workflow
    // that is completed stays so, whatever becomes of its file.
    if (snapshot->status != Status::completed)
      rejected(*snapshot, decision);
    if (snapshot->status == Status::paused)
      paused(*snapshot, decision);
    else if (snapshot->has_ended())
      ended(*snapshot, decision);
    refuse_requests(*snapshot,
                    " was rejected; correct it first (`baton validate " +
                        shell_word(snapshot->path) + "` shows what is wrong)",
                    decision);
  } else if (snapshot->has_ended()) {
    (void)answer_requests(*snapshot, NextStep{}, edits, decision);
    ended(*snapshot, decision);
  } else if (view.being_written) {
    keep_working(*snapshot, decision);
    refuse_requests(*snapshot, " is being written; try again in a moment", decision);
  } else {
    remember_decisions(*snapshot);
    route(*snapshot, edits, decision);
  }
  decision.updates = edits.updates();
  if (edits.empty() && snapshot->file.present && snapshot->file.rejected.empty())
    keep_copies(*snapshot, decision);
  decision.details = report(*snapshot);
  report_progress(*snapshot, decision);
  decision.memo = json_of(snapshot->memo);
  return decision;
}

}  // namespace baton::ml_workflow
