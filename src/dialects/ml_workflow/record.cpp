// SPDX-License-Identifier: Apache-2.0
#include "dialects/ml_workflow/record.h"

#include <algorithm>

#include "base/json/numbers.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/timestamps.h"

namespace baton::ml_workflow {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

std::string entry_pointer(const Entry& entry) {
  return "/step_history/" + std::to_string(entry.index);
}

std::int64_t seconds_of(Millis time) {
  return duration_cast<seconds>(time).count();
}

std::string trigger(std::int64_t from, std::int64_t to, bool converged) {
  if (from == 0)
    return "workflow_started";
  if (to == 3 && from >= kFirstCodeStep)
    return "plan_reopened";
  if (to == 3 || to == 6)
    return converged ? "changes_requested" : "validation_failed";
  if (to == 4)
    return "convergence_achieved";
  return from == to ? "retry" : "step_completed";
}

void reset(const Snapshot& snapshot, const std::string& pointer, Edits& edits) {
  if (flag_at(snapshot.root, pointer))
    edits.set(pointer, Json(false));
}

/// Resets the flags of the code, because it must be validated and approved again.
void reset_code(const Snapshot& snapshot, Edits& edits) {
  reset(snapshot, "/convergence_status/phase_2_converged", edits);
  reset(snapshot, "/human_approvals/code_approved", edits);
  reset(snapshot, "/human_approvals/final_approved", edits);
}

/// Resets the flags of what step 3 or 6 makes anew.
void take_back(const Snapshot& snapshot, std::int64_t step, Edits& edits) {
  if (step == 3) {
    reset(snapshot, "/convergence_status/phase_1_converged", edits);
    reset(snapshot, "/human_approvals/plan_approved", edits);
  }
  if (step == 3 || step == 6)
    reset_code(snapshot, edits);
}

/// Adds missing members that programs of the origin expect (K-9). It never adds criteria, because
/// they are fixed at creation.
void fill_in(const Snapshot& snapshot, Edits& edits) {
  const std::string status = "/convergence_status";
  for (const char* const flag : {"/phase_1_converged", "/phase_2_converged"})
    edits.fill(status + flag, Json(false));
  edits.fill(status + "/convergence_history", Json::array());
  for (const std::string_view approval : kApprovals)
    edits.fill("/human_approvals/" + std::string(approval) + "_approved",
               Json(approved(snapshot.root, snapshot.entries, approval)));
  edits.fill("/human_approvals/approval_history", Json::array());
  for (const char* const counter :
       {"total_iterations", "phase_1_iterations", "phase_2_iterations", "validation_failures",
        "recovery_actions", "human_interventions"})
    edits.fill(std::string("/metrics/") + counter, Json(0));
}

void begin(const Snapshot& snapshot, const Work& work, const Run& run, Edits& edits) {
  fill_in(snapshot, edits);
  const std::int64_t from = snapshot.last() == nullptr ? 0 : snapshot.last()->step;
  // Two halves of a validation that start together are one transition.
  if (from != work.step && edits.appended("/step_transitions") == 0) {
    const bool converged =
        flag_at(snapshot.root, snapshot.plan_phase() ? "/convergence_status/phase_1_converged"
                                                     : "/convergence_status/phase_2_converged");
    edits.append("/step_transitions",
                 Json::object({{"from_step", Json(from)},
                               {"to_step", Json(work.step)},
                               {"trigger", trigger(from, work.step, converged)},
                               {"timestamp", snapshot.now()},
                               {"reason", run.why},
                               {"next_action", "invoke_" + run.key.role + "_for_" + run.purpose}}));
  }
  take_back(snapshot, work.step, edits);
  edits.append("/step_history",
               Json::object({{"step_number", Json(work.step)},
                             {"agent", std::string(agent_of(work.step))},
                             {"template", std::string(template_of(work.step, work.half))},
                             {"status", "in_progress"},
                             {"started_at", snapshot.now()},
                             {"completed_at", Json()},
                             {"execution_time", Json()},
                             {"input_context", Json::object()},
                             {"output", Json()},
                             {"validation_scores", Json()},
                             {"error_info", Json()}}));
  edits.set("/current_step", Json(work.step));
  if (snapshot.status == Status::initialized)
    edits.set("/status", "running");
}

void begin_again(Snapshot& snapshot, const Entry& entry, Edits& edits) {
  const std::string error = entry_pointer(entry) + "/error_info";
  const std::string strategy = next_strategy(snapshot, entry);
  edits.append(error + "/recovery_strategies",
               Json::object({{"strategy", strategy}, {"attempted_at", snapshot.now()}}));
  edits.set(error + "/recovery_attempts", Json(sum(recovery_attempts(entry), 1)));
  edits.set(entry_pointer(entry) + "/status", "in_progress");
  edits.set(entry_pointer(entry) + "/completed_at", Json());
  edits.set(entry_pointer(entry) + "/execution_time", Json());
  snapshot.memo.base.erase(helped(entry));
}

/// Adds the result to the last retry of an entry that has ended.
void record_retry_result(const Entry& entry, bool success, Edits& edits) {
  const auto tried = recoveries(entry);
  if (!tried.Empty() && !json::text(tried[tried.Size() - 1], "result"))
    edits.set(entry_pointer(entry) + "/error_info/recovery_strategies/" +
                  std::to_string(tried.Size() - 1) + "/result",
              success ? "success" : "failed");
}

void fail(const Snapshot& snapshot, const Entry& entry, std::string_view type,
          const std::string& message, const Run* run, Edits& edits) {
  const std::string at = entry_pointer(entry);
  Json details = Json::object({{"agent", std::string(entry.agent)},
                               {"step", Json(entry.step)},
                               {"template", std::string(entry.file)}});
  if (run != nullptr) {
    details.set("run", run->id);
    if (type == "agent_timeout")
      details.set("timeout_duration",
                  Json(seconds_of(run->outcome == Outcome::stalled ? run->limits.idle_timeout
                                                                   : run->limits.timeout)));
    if (!run->output.empty())
      details.set("partial_output", run->output);
  }
  record_retry_result(entry, false, edits);
  edits.set(at + "/status", "failed");
  edits.set(at + "/error_info/error_type", std::string(type));
  edits.set(at + "/error_info/error_message", message);
  edits.set(at + "/error_info/error_details", details);
  edits.fill(at + "/error_info/recovery_attempts", Json(0));
  edits.fill(at + "/error_info/recovery_strategies", Json::array());
  edits.add_reason("step " + subject_of(entry) + " failed: " + message);
  if (json::text(*entry.value, "completed_at") == std::nullopt)
    edits.set(at + "/completed_at", snapshot.now());
}

/// Marks an entry in progress as failed if its agent has ended for good.
void agent_gone(const Snapshot& snapshot, const Entry& entry, Edits& edits, Decision& decision) {
  const Run* newest = nullptr;
  for (const Run& run : snapshot.view.runs)
    if (snapshot.works_on(run, subject_of(entry)))
      newest = &run;
  if (newest == nullptr)
    return fail(snapshot, entry, kAgentExit, "no agent of baton works on it", nullptr, edits);
  if (newest->live() || newest->forgiven)
    return;
  switch (newest->outcome) {
    case Outcome::none:
    case Outcome::voided:   // nothing ran: the step starts again
    case Outcome::stopped:  // by a person or by a pause
    case Outcome::limited:  // its provider had no room, or refused the login
    case Outcome::transient:
    case Outcome::auth:
    case Outcome::interrupted:  // on_interrupted decides
      return;
    case Outcome::timed_out:
    case Outcome::stalled:
      return fail(
          snapshot, entry, "agent_timeout",
          std::string(entry.agent) +
              (newest->outcome == Outcome::stalled
                   ? " was silent for " + std::to_string(seconds_of(newest->limits.idle_timeout))
                   : " timed out after " + std::to_string(seconds_of(newest->limits.timeout))) +
              " seconds",
          newest, edits);
    case Outcome::succeeded:
      decision.failed_work.emplace(newest->id, "no_entry");
      return fail(snapshot, entry, kAgentExit, "the agent ended but its entry is still in progress",
                  newest, edits);
    case Outcome::failed:
    case Outcome::unknown:
      return fail(snapshot, entry, kAgentExit,
                  "the agent's run ended as " + std::string(word(newest->outcome)) +
                      (newest->reason.empty() ? "" : " (" + newest->reason + ")"),
                  newest, edits);
  }
}

/// Fills in completed_at and execution_time of an ended entry.
void complete_times(const Snapshot& snapshot, const Entry& entry, Edits& edits) {
  const auto began = timestamp(*entry.value, "started_at");
  if ((entry.status != "completed" && entry.status != "failed") || !began)
    return;
  const std::string at = entry_pointer(entry);
  const auto ended = end_of(entry);
  if (!timestamp(*entry.value, "completed_at"))
    edits.set(at + "/completed_at", ended ? iso_time(*ended) : snapshot.now());
  const auto took = duration_cast<seconds>(ended.value_or(snapshot.view.wall) - *began).count();
  if (!json::integer(*entry.value, "execution_time") && took >= 0)
    edits.set(at + "/execution_time", Json(static_cast<std::int64_t>(took)));
}

void set_number(const Snapshot& snapshot, const std::string& pointer, std::int64_t number,
                Edits& edits) {
  const Value* const found = json::at(snapshot.root, pointer);
  if (found == nullptr ? number != 0 : json::integer(*found) != number)
    edits.set(pointer, Json(number));
}

}  // namespace

std::int64_t interventions(const Snapshot& snapshot) {
  return list_at(snapshot.root, kDecisions).Size() + snapshot.memo.escalations;
}

void record_starts(Snapshot& snapshot, Edits& edits) {
  std::vector<const Run*> started;
  for (const Run& run : snapshot.view.runs)
    if (parse_work(run.key.subject) && snapshot.live(run.key.subject) == &run)
      started.push_back(&run);
  std::sort(started.begin(), started.end(),
            [](const Run* one, const Run* other) { return one->key.subject < other->key.subject; });
  for (const Run* const run : started) {
    const Entry* const entry = snapshot.newest(run->key.subject);
    if (entry != nullptr && entry->status == "in_progress")
      continue;
    edits.add_reason("step " + run->key.subject + " begins: " + run->why);
    if (entry != nullptr && entry->status == "failed")
      begin_again(snapshot, *entry, edits);
    else
      begin(snapshot, *parse_work(run->key.subject), *run, edits);
  }
}

void record_ends(const Snapshot& snapshot, Edits& edits, Decision& decision) {
  for (const Entry& entry : snapshot.entries) {
    const bool validates = plan_validation(entry.step) || code_validation(entry.step);
    const bool recent = entry.index + 1 >= snapshot.entries.back().index;
    if (entry.status == "in_progress")
      agent_gone(snapshot, entry, edits, decision);
    else if (recent && entry.completed() && validates && !has_verdict(entry))
      fail(snapshot, entry, "validation_error", "the validation has no scores", nullptr, edits);
    else
      record_retry_result(entry, entry.completed(), edits);
  }
}

void record_rounds(const Snapshot& snapshot, Edits& edits) {
  for (const std::string_view phase : {"phase_1", "phase_2"}) {
    if (!round_to_record(snapshot, phase))
      continue;
    const bool plan = phase == "phase_1";
    const Round round = judge_round(snapshot.root, snapshot.entries, plan);
    edits.append("/convergence_status/convergence_history",
                 Json::object({{"phase", std::string(phase)},
                               {"attempt", Json(attempts(snapshot, phase))},
                               {"scores", json_of(round.scores)},
                               {"converged", Json(round.pass)},
                               {"timestamp", snapshot.now()},
                               {"entry", Json(round_end(snapshot, plan))}}));
    edits.set("/convergence_status/" + std::string(phase) + "_converged", Json(round.pass));
    edits.add_reason(std::string(phase) +
                     (round.pass ? " has converged" : " has not: " + round.why));
  }
}

void record_counters(const Snapshot& snapshot, Edits& edits) {
  const std::size_t count = snapshot.entries.size();
  std::int64_t total = 0;
  std::int64_t completed = 0;
  std::int64_t validations = 0;
  std::int64_t repeated = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = snapshot.entries[i];
    // The last two entries, because parallel validators may end in any order.
    if (i + 2 >= count)
      complete_times(snapshot, entry, edits);
    total = sum(total, count_of(*entry.value, "execution_time"));
    repeated = sum(repeated, recovery_attempts(entry));
    if (!entry.completed())
      continue;
    completed = entry.step;
    validations += plan_validation(entry.step) || code_validation(entry.step) ? 1 : 0;
  }
  std::int64_t rounds[2] = {0, 0};
  std::int64_t failed = 0;
  for (const Value& round : list_at(snapshot.root, kRounds)) {
    ++rounds[json::text(round, "phase") == "phase_1" ? 0 : 1];
    failed += flag_of(round, "converged") ? 0 : 1;
  }
  set_number(snapshot, "/last_completed_step", completed, edits);
  set_number(snapshot, "/total_execution_time", total, edits);
  set_number(snapshot, "/metrics/total_iterations", validations, edits);
  set_number(snapshot, "/metrics/phase_1_iterations", rounds[0], edits);
  set_number(snapshot, "/metrics/phase_2_iterations", rounds[1], edits);
  set_number(snapshot, "/metrics/validation_failures", failed, edits);
  set_number(snapshot, "/metrics/recovery_actions", repeated, edits);
  set_number(snapshot, "/metrics/human_interventions", interventions(snapshot), edits);
  edits.add_reason("times and counters");
}

void record_decision(const Snapshot& snapshot, std::string_view approval, std::string_view status,
                     const std::string& by, const std::string& comment, Edits& edits) {
  const std::string flags = "/human_approvals/" + std::string(approval);
  Json requests = Json::array();
  if (status == "changes_requested" && !comment.empty())
    requests.push(comment);
  edits.append("/human_approvals/approval_history",
               Json::object({{"approval_type", std::string(approval)},
                             {"status", std::string(status)},
                             {"approver", by},
                             {"timestamp", snapshot.now()},
                             {"comments", comment},
                             {"change_requests", requests}}));
  edits.set(flags + "_approved", Json(status == "approved"));
  edits.set(flags + "_approval_timestamp", snapshot.now());
  edits.set(flags + "_approver", by);
  edits.add_reason(by + " has decided: " + std::string(approval) + " " + std::string(status));
}

void record_return(Snapshot& snapshot, Edits& edits) {
  // baton counts the attempts of the new plan and its code anew.
  for (const char* const phase : {"phase_1", "phase_2"})
    snapshot.memo.base[phase] = attempts(snapshot, phase);
  for (const Entry& entry : snapshot.entries)
    if (entry.status == "in_progress" || entry.status == "failed")
      edits.set(entry_pointer(entry) + "/status", "skipped");
  const std::int64_t entries = list_at(snapshot.root, "/step_history").Size();
  edits.append("/phase_transitions", Json::object({{"from_phase", "phase_2"},
                                                   {"to_phase", "phase_1"},
                                                   {"trigger", "plan_reopened"},
                                                   {"timestamp", snapshot.now()},
                                                   {"entry", Json(entries)}}));
  edits.set("/current_phase", "phase_1");
  edits.set("/convergence_status/phase_1_converged", Json(false));
  reset(snapshot, "/human_approvals/plan_approved", edits);
  reset_code(snapshot, edits);
}

void Edits::make(const std::string& pointer, std::string_view text) {
  const Value* const there = json::at(snapshot_.root, pointer);
  if ((there != nullptr && !there->IsNull()) ||
      std::find(made_.begin(), made_.end(), pointer) != made_.end())
    return;
  made_.push_back(pointer);
  edits_.push_back({pointer, std::string(text)});
}

void Edits::make_parents(const std::string& pointer) {
  for (auto slash = pointer.find('/', 1); slash != std::string::npos;
       slash = pointer.find('/', slash + 1))
    make(pointer.substr(0, slash), "{}");
}

void Edits::set(const std::string& pointer, const Json& value) {
  make_parents(pointer);
  edits_.push_back({pointer, value.dump()});
}

void Edits::fill(const std::string& pointer, const Json& value) {
  if (json::at(snapshot_.root, pointer) != nullptr)
    return;
  make_parents(pointer);
  make(pointer, value.dump());
}

void Edits::append(const std::string& pointer, const Json& value) {
  make_parents(pointer);
  make(pointer, "[]");
  edits_.push_back({pointer + "/-", value.dump()});
}

std::size_t Edits::appended(const std::string& pointer) const {
  return static_cast<std::size_t>(
      std::count_if(edits_.begin(), edits_.end(),
                    [&](const json::Edit& edit) { return edit.pointer == pointer + "/-"; }));
}

void Edits::add_reason(const std::string& why) {
  why_ += (why_.empty() ? "" : "; ") + why;
}

std::vector<Update> Edits::updates() const {
  if (edits_.empty() || !snapshot_.file.present)
    return {};
  std::vector<json::Edit> all = edits_;
  all.push_back({"/updated_at", json::quote(snapshot_.now())});
  return {SetMembers{snapshot_.path, snapshot_.file.document->digest(), std::move(all), why_}};
}

}  // namespace baton::ml_workflow
