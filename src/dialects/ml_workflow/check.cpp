// SPDX-License-Identifier: Apache-2.0

// The rules that no schema can state, except those about single steps and their order
// (check_history.cpp).

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/json/numbers.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/snapshot.h"
#include "dialects/ml_workflow/verdict.h"
#include "dialects/ml_workflow/words.h"
#include "dialects/timestamps.h"

namespace baton::ml_workflow {
namespace {

constexpr std::string_view kNoSuchDay = "S22";

/// The newest decision of a type in approval_history.
struct Decided {
  std::string_view word;
  std::optional<Time> when;
};
std::optional<Decided> newest_decision(const Value& root, std::string_view approval) {
  std::optional<Decided> newest;
  for (const Value& decision : list_at(root, kDecisions))
    if (json::text(decision, "approval_type") == approval)
      newest =
          Decided{json::text(decision, "status").value_or(""), timestamp(decision, "timestamp")};
  return newest;
}

std::string flag_pointer(std::string_view approval) {
  return "/human_approvals/" + std::string(approval) + "_approved";
}

/// Whether the plan (step 3) or the code (steps 4 and 6) was made anew after the decision, so that
/// the decision no longer counts. If a time is missing, any step 3 or 6 counts as later.
bool spent(const Decided& decision, const std::vector<Entry>& entries, std::string_view approval) {
  const bool plan = approval == "plan";
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    const auto start = timestamp(*entry.value, "started_at");
    const auto began = start ? start : end_of(entry);
    if (!began || !decision.when)
      return entry.step == (plan ? 3 : 6);
    return (plan ? entry.step == 3 : code_change(entry.step)) && *began >= *decision.when;
  });
}

/// Whether the workflow has gone back from phase_2 and the new plan has not begun. current_step is
/// then still the last step of the old plan.
bool sent_back(const Value& root, const std::vector<Entry>& entries) {
  const std::size_t first = plan_start(root);
  return first > 0 && (entries.empty() || entries.back().index < first);
}

/// Explains why a set flag does not count.
std::string overruled(const Value& root, const std::vector<Entry>& entries,
                      std::string_view approval) {
  const std::string decision(outranks_flag(root, entries, approval));
  return decision.empty()
             ? ""
             : ": the newest decision is " + decision + ", which counts more than the flag";
}

void name_rule(const std::string& path, const Value& root, const Json& options,
               FindingList& findings) {
  const auto folder = workflow_of_path(path, options);
  const auto id = json::text(root, "workflow_id");
  if (folder && id && *folder != *id)
    findings.error("S16", "/workflow_id",
                   "workflow_id is " + shown(*id) + ", but the folder is " + shown(*folder),
                   json::child(root, "workflow_id"), shown(*folder));
}

void phase_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const bool code = json::text(root, "current_phase") == "phase_2";
  const std::int64_t current = count_of(root, "current_step");
  const bool converged = flag_at(root, "/convergence_status/phase_1_converged");
  if (code && !converged)
    findings.error("S2", "/convergence_status/phase_1_converged",
                   "the workflow is in phase_2, but phase_1_converged is false",
                   json::at(root, "/convergence_status/phase_1_converged"), "true");
  const Value* const phase = json::child(root, "current_phase");
  if (!code) {
    const std::size_t first = plan_start(root);
    const auto early = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.index >= first && entry.step >= kFirstCodeStep;
    });
    if (early != entries.end() || (current >= kFirstCodeStep && !sent_back(root, entries)))
      findings.error("S1", "/current_phase",
                     "step " + std::to_string(early != entries.end() ? early->step : current) +
                         " belongs to phase_2",
                     phase, "phase_2");
    return;
  }
  // The hand-over: phase_2 has begun, but current_step is still the validation of the plan.
  const bool hand_over = converged && !entries.empty() && entries.back().completed();
  if (current < kFirstCodeStep && !hand_over)
    findings.error("S1", "/current_phase",
                   "step " + std::to_string(current) + " belongs to phase_1", phase, "phase_1");
}

void end_rules(const Value& root, const std::vector<Entry>& entries, Status status,
               const Json& options, FindingList& findings) {
  if (status != Status::completed)
    return;
  const Value* const word = json::child(root, "status");
  if (!flag_at(root, "/convergence_status/phase_2_converged"))
    findings.error("S10", "/status", "the workflow is completed, but phase_2_converged is not true",
                   word, "running");
  if (required(options, "final") && !approved(root, entries, "final"))
    findings.error(
        "S10", "/status",
        "the workflow is completed, but has no final approval" + overruled(root, entries, "final"),
        word, "running");
}

void plan_rule(const Value& root, const std::vector<Entry>& entries, const Json& options,
               FindingList& findings) {
  const std::size_t first = plan_start(root);
  const bool begun =
      (count_of(root, "current_step") >= kFirstCodeStep && !sent_back(root, entries)) ||
      std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.index >= first && entry.step >= kFirstCodeStep;
      });
  if (begun && required(options, "plan") && !approved(root, entries, "plan")) {
    const std::string pointer = existing_pointer(root, flag_pointer("plan"));
    findings.error(
        "S11", pointer,
        "code is being written, but the plan is not approved" + overruled(root, entries, "plan"),
        pointer == flag_pointer("plan") ? json::at(root, pointer) : nullptr,
        "an approved plan before step 4");
  }
}

/// Whether the workflow went back to the plan after the decision, which has reset all flags.
bool went_back_since(const Value& root, const Decided& decision) {
  const auto all = list_at(root, "/phase_transitions");
  return std::any_of(all.begin(), all.end(), [&](const Value& each) {
    const auto when = timestamp(each, "timestamp");
    return json::text(each, "to_phase") == "phase_1" &&
           (!when || !decision.when || *when >= *decision.when);
  });
}

void approval_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  for (const std::string_view approval : kApprovals) {
    const auto decision = newest_decision(root, approval);
    const std::string pointer = flag_pointer(approval);
    const Value* const found = json::at(root, pointer);
    if (!decision || found == nullptr)
      continue;
    const bool approves = decision->word == "approved";
    const bool given = json::boolean(*found).value_or(false);
    // A rejection counts until another decision follows.
    const bool settled =
        decision->word != "rejected" &&
        (spent(*decision, entries, approval) || (!given && went_back_since(root, *decision)));
    if (given != approves && !settled)
      findings.warning("S12", pointer,
                       std::string(approval) + "_approved is " + shown(*found) +
                           ", but the newest decision is " + std::string(decision->word) +
                           "; the decision counts",
                       found, approves ? "true" : "false");
  }
}

void time_rules(const Value& root, FindingList& findings) {
  TimestampCheck times;
  times.look(root, "", {"created_at", "updated_at"}, kNoSuchDay, findings);
  const auto look = [&](std::string_view pointer, std::initializer_list<std::string_view> names) {
    std::size_t index = 0;
    for (const Value& item : list_at(root, pointer))
      times.look(item, item_pointer(std::string(pointer), index++), names, kNoSuchDay, findings);
  };
  look("/step_history", {"started_at", "completed_at"});
  look(kRounds, {"timestamp"});
  times.look(member(root, "human_approvals"), "/human_approvals",
             {"plan_approval_timestamp", "code_approval_timestamp", "final_approval_timestamp"},
             kNoSuchDay, findings);
  look(kDecisions, {"timestamp"});
  look("/phase_transitions", {"timestamp"});
  look("/step_transitions", {"timestamp"});
  times.report("S18", findings);
}

}  // namespace

bool approved(const Value& root, const std::vector<Entry>& entries, std::string_view approval) {
  const auto decision = newest_decision(root, approval);
  if (!decision || (decision->word == "changes_requested" && spent(*decision, entries, approval)))
    return flag_at(root, flag_pointer(approval));
  return decision->word == "approved";
}

std::string_view outranks_flag(const Value& root, const std::vector<Entry>& entries,
                               std::string_view approval) {
  const auto decision = newest_decision(root, approval);
  const bool overruled =
      flag_at(root, flag_pointer(approval)) && !approved(root, entries, approval);
  return overruled && decision ? decision->word : std::string_view();
}

Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> /*wall*/) {
  const Value& root = accepted.document->root();
  FindingList findings(kDialect);
  const auto status = parse_status(json::text(root, "status").value_or(""));
  if (!status)
    return {};
  const std::vector<Entry> entries = history(root);
  name_rule(path, root, options, findings);
  phase_rules(root, entries, findings);
  end_rules(root, entries, *status, options, findings);
  plan_rule(root, entries, options, findings);
  approval_rules(root, entries, findings);
  time_rules(root, findings);
  history_rules(root, entries, findings);
  score_rules(root, entries, findings);
  if (*status != Status::initialized && json::child(root, "step_history") == nullptr)
    findings.warning("S20", "/status",
                     "the workflow is " + text_of(root, "status") + ", but has no step_history",
                     json::child(root, "status"), "a step_history");
  return findings.take();
}

void converged_rule(const Value& root, const std::vector<Entry>& entries, bool plan,
                    FindingList& findings) {
  const std::string flag = plan ? "phase_1_converged" : "phase_2_converged";
  const std::string pointer = "/convergence_status/" + flag;
  if (!flag_at(root, pointer))
    return;
  const auto say = [&](const std::string& why) {
    findings.error("S7", pointer, flag + " is true, but " + why, json::at(root, pointer), "false");
  };
  switch (validated(entries, plan)) {
    case Validated::nothing:
      say(plan ? "nothing was validated" : "the code was not validated since it last changed");
      return;
    case Validated::half:
      say("one half of the validation is missing");
      return;
    case Validated::all:
      break;
  }
  if (const Round round = judge_round(root, entries, plan); !round.pass)
    say(round.why);
}

void attempt_rule(const Value& root, FindingList& findings) {
  std::map<std::string, std::int64_t> attempts;
  std::size_t index = 0;
  for (const Value& round : list_at(root, kRounds)) {
    const std::string pointer = item_pointer(std::string(kRounds), index++) + "/attempt";
    const std::string phase = text_of(round, "phase");
    const Value* const found = json::child(round, "attempt");
    const std::int64_t next = sum(attempts[phase], 1);
    attempts[phase] = found == nullptr ? next : json::integer(*found).value_or(next);
    if (attempts[phase] != next)
      findings.warning(
          "S19", pointer,
          "attempt " + shown(*found) + " of " + phase + " does not follow the one before", found,
          std::to_string(next));
  }
}

/// Whether a program maintains the counters. If all are zero, no program does.
bool kept(const Value& metrics) {
  return metrics.IsObject() &&
         std::any_of(metrics.MemberBegin(), metrics.MemberEnd(), [](const auto& member) {
           return json::integer(member.value).value_or(0) != 0;
         });
}

void metric_rule(const Value& metrics, std::string_view name, std::int64_t counted,
                 std::optional<std::int64_t> or_else, FindingList& findings) {
  const Value* const found = json::child(metrics, name);
  if (found == nullptr || json::integer(*found) == counted || json::integer(*found) == or_else)
    return;
  findings.warning("S14", "/metrics/" + std::string(name),
                   std::string(name) + " is " + shown(*found) + ", but the file shows " +
                       std::to_string(counted),
                   found, std::to_string(counted));
}

void metrics_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const Value& metrics = member(root, "metrics");
  const auto rounds = list_at(root, kRounds);
  if (json::at(root, kRounds) == nullptr || !kept(metrics))
    return;
  std::int64_t validations = 0;
  std::int64_t recoveries = 0;
  for (const Entry& entry : entries) {
    if (entry.completed() && (plan_validation(entry.step) || code_validation(entry.step)))
      ++validations;
    recoveries = sum(recoveries, recovery_attempts(entry));
  }
  const auto count = [&](std::string_view phase, bool only_failed) {
    return std::count_if(rounds.begin(), rounds.end(), [&](const Value& round) {
      return (phase.empty() || json::text(round, "phase") == phase) &&
             (!only_failed || json::boolean(round, "converged") == false);
    });
  };
  // Some programs count the two halves of a code validation as one, some as two.
  metric_rule(metrics, "total_iterations", validations, count("", false), findings);
  metric_rule(metrics, "phase_1_iterations", count("phase_1", false), std::nullopt, findings);
  metric_rule(metrics, "phase_2_iterations", count("phase_2", false), std::nullopt, findings);
  metric_rule(metrics, "validation_failures", count("", true), std::nullopt, findings);
  metric_rule(metrics, "recovery_actions", recoveries, std::nullopt, findings);
}

void total_time_rule(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const Value* const found = json::child(root, "total_execution_time");
  const std::int64_t total = count_of(root, "total_execution_time");
  std::int64_t longest = 0;
  for (const Entry& entry : entries)
    longest = std::max(longest, count_of(*entry.value, "execution_time"));
  if (total > 0 && total < longest)
    findings.warning("S21", "/total_execution_time",
                     "total_execution_time is " + std::to_string(total) +
                         " s, but one step alone took " + std::to_string(longest) + " s",
                     found, "the sum of the entries");
}

void score_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  if (json::child(root, "step_history") != nullptr) {
    converged_rule(root, entries, true, findings);
    converged_rule(root, entries, false, findings);
  }
  attempt_rule(root, findings);
  metrics_rules(root, entries, findings);
  total_time_rule(root, entries, findings);
}

}  // namespace baton::ml_workflow
