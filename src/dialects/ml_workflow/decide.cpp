#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

constexpr Millis kLinger{60'000};
constexpr Millis kPauseGrace{60'000};
constexpr std::uint32_t kMostRejected = 3;

void hold(Decision& decision, Word reason, std::string why, Subject subject = "") {
  decision.holds.push_back(Hold{"", std::move(subject), std::move(reason), std::move(why)});
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
  const auto& roles = snapshot.view.env.role_limits;
  const auto role = roles.find(Role(agent_of(work.step)));
  RunLimits limits = role == roles.end() ? RunLimits{} : role->second;
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
  hold(decision, "approval", found.why, found.approval);
  std::string why = found.why;
  if (options.reminders > Millis(0)) {
    const auto times = waited / options.reminders;
    if (times > 0)
      why += " (waiting for " + duration_text(times * options.reminders) + ")";
    const Time next_reminder = since + (times + 1) * options.reminders;
    decision.tidy = std::min(decision.tidy.value_or(next_reminder), next_reminder);
  }
  decision.notices.push_back(Notice{"approval_wanted", found.approval, why});
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
    if (entry.status != "in_progress" || snapshot.status == Status::paused)
      continue;
    std::uint32_t ended = 0;
    for (const Run& run : snapshot.view.runs)
      if (snapshot.works_on(run, subject) && !run.live() && run.outcome != Outcome::voided)
        ++ended;
    working = working || snapshot.live(subject) != nullptr;
    if (snapshot.live(subject) != nullptr || ended == 0 || ended >= kMostRejected)
      continue;
    add_desired(snapshot, Work{entry.step, entry.half},
                "retry_with_corrected_input: the agent left a file that was rejected", decision);
    decision.desired.back().turn = ended;
  }
  if (decision.desired.empty() && !working)
    hold(decision, "rejected",
         snapshot.path + " was rejected; correct it (`baton explain " + snapshot.path +
             "` says what is wrong), or `baton recover " + text(snapshot.view.flow) + "`");
}

void remember_decisions(Snapshot& snapshot) {
  for (const std::string_view approval : kApprovals)
    if (ValidationMark about = validation_mark(snapshot, approval); about.entry >= 0)
      snapshot.memo.marks[std::string(approval)] = about;
  snapshot.memo.decisions = list_at(snapshot.root, kDecisions).Size();
}

/// The newest failure, for a message: "step 3 failed: critical_error: no such project".
std::string newest_failure(const Snapshot& snapshot) {
  const auto failed = std::find_if(snapshot.entries.rbegin(), snapshot.entries.rend(),
                                   [](const Entry& entry) { return entry.status == "failed"; });
  if (failed == snapshot.entries.rend())
    return {};
  std::string text = "; step " + std::to_string(failed->step) + " failed";
  for (const std::string_view member : {"error_type", "error_message"})
    if (const std::string detail = text_of(error_of(*failed), member); !detail.empty())
      text += ": " + printable(detail, 200);
  return text;
}

void paused(Snapshot& snapshot, Decision& decision) {
  decision.control = Control::pause;
  if (snapshot.memo.paused_ms == 0)
    snapshot.memo.paused_ms = snapshot.view.now.time_since_epoch().count();
  decision.end_at = Time(Millis(snapshot.memo.paused_ms)) + kPauseGrace;
  if (snapshot.memo.escalated.empty())
    return;
  decision.failed = true;
  hold(decision, "escalated",
       "baton paused the workflow for a person (" + snapshot.memo.escalated +
           (snapshot.memo.escalated == "recovery" ? newest_failure(snapshot) : "") +
           "); then `baton answer " + text(snapshot.view.flow) + "` with a comment");
}

void route(Snapshot& snapshot, Edits& edits, Decision& decision) {
  if (snapshot.status == Status::paused && !snapshot.memo.escalated.empty()) {
    // The answer of a person covers all failures so far, so baton records them first.
    record_ends(snapshot, edits);
    if (!edits.empty())
      return;
  }
  if (snapshot.status != Status::paused) {
    snapshot.memo.paused_ms = 0;
    record_starts(snapshot, edits);
    record_ends(snapshot, edits);
    if (!edits.empty())
      return;
    record_rounds(snapshot, edits);
    record_counters(snapshot, edits);
    if (!edits.empty())
      return;
  }
  Snapshot as_if = snapshot;
  if (snapshot.status == Status::paused && snapshot.memo.escalated == "approval")
    as_if.status = Status::running;  // the approval may still be decided
  const NextStep found = next_step(as_if);
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
      Release{"", "", false, kLinger, "the work is done but the process still runs"});
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
  decision.failed = snapshot.status == Status::failed;
}

/// Decides while the state file is missing, so that baton cannot write it.
void gone(Snapshot& snapshot, Decision& decision) {
  if (snapshot.status == Status::paused)
    paused(snapshot, decision);
  else if (snapshot.has_ended())
    ended(snapshot, decision);
  else
    keep_working(snapshot, decision);
  refuse_requests(
      snapshot,
      " is missing; restore it first with `baton recover " + text(snapshot.view.flow) + " --write`",
      decision);
}

}  // namespace

Decision decide(const View& view) {
  Decision decision;
  decision.memo = view.memo;
  auto snapshot = snapshot_of(view);
  if (!snapshot) {
    decision.control = Control::idle;
    return decision;
  }
  decision.declared = text_of(snapshot->root, "status");
  release_runs(*snapshot, decision);
  Edits edits(*snapshot);
  if (!snapshot->file.present) {
    gone(*snapshot, decision);
  } else if (!snapshot->file.rejected.empty()) {
    if (snapshot->status == Status::paused)
      paused(*snapshot, decision);
    rejected(*snapshot, decision);
    refuse_requests(
        *snapshot,
        " was rejected (`baton explain " + snapshot->path + "` says why); correct it first",
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
  decision.memo = json_of(snapshot->memo);
  return decision;
}

}  // namespace baton::ml_workflow
