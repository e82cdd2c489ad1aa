// The rules about scores and counters.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/json/numbers.h"
#include "dialects/ml_workflow/check.h"
#include "dialects/ml_workflow/verdict.h"
#include "dialects/ml_workflow/words.h"

namespace baton::ml_workflow {
namespace {

void converged_rule(const Value& root, const std::vector<Entry>& entries, bool plan,
                    FindingList& findings) {
  const std::string flag = plan ? "phase_1_converged" : "phase_2_converged";
  const std::string pointer = "/convergence_status/" + flag;
  const Value* const found = json::at(root, pointer);
  if (found == nullptr || !json::boolean(*found).value_or(false))
    return;
  const auto say = [&](const std::string& why) {
    findings.error("S7", pointer, flag + " is true, but " + why, found, "false");
  };
  switch (validated(entries, plan)) {
    case Validated::nothing:
      say(plan ? "nothing was validated" : "the code was not validated since it last changed");
      return;
    case Validated::half:
      say("one half of the validation is still to come");
      return;
    case Validated::all:
      break;
  }
  if (const Round round = judge_round(root, entries, plan); !round.pass)
    say(round.why);
}

const Value* rounds(const Value& root) {
  const Value* const list = json::at(root, "/convergence_status/convergence_history");
  return list != nullptr && list->IsArray() ? list : nullptr;
}

void attempt_rule(const Value& root, FindingList& findings) {
  const Value* const list = rounds(root);
  if (list == nullptr)
    return;
  std::map<std::string_view, std::int64_t> attempts;
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i) {
    const std::string_view phase = json::text((*list)[i], "phase").value_or("");
    const Value* const found = json::child((*list)[i], "attempt");
    const std::int64_t next = sum(attempts[phase], 1);
    attempts[phase] = next;
    if (found == nullptr || json::integer(*found) == next)
      continue;
    findings.warning("S19",
                     "/convergence_status/convergence_history/" + std::to_string(i) + "/attempt",
                     "attempt " + shown(*found) + " of " + std::string(phase) +
                         " does not follow on the one before",
                     found, std::to_string(next));
    attempts[phase] = json::integer(*found).value_or(next);
  }
}

/// Counters that are all zero are not kept by anybody.
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
  const Value* const metrics = json::child(root, "metrics");
  const Value* const list = rounds(root);
  if (metrics == nullptr || list == nullptr || !kept(*metrics))
    return;
  std::int64_t validations = 0;
  std::int64_t recoveries = 0;
  for (const Entry& entry : entries) {
    if (entry.completed() && (plan_validation(entry.step) || code_validation(entry.step)))
      ++validations;
    if (const Value* const error = json::child(*entry.value, "error_info"))
      recoveries = sum(recoveries, json::integer(*error, "recovery_attempts").value_or(0));
  }
  const auto count = [&](std::string_view phase, bool only_failed) {
    return std::count_if(list->Begin(), list->End(), [&](const Value& round) {
      return (phase.empty() || json::text(round, "phase") == phase) &&
             (!only_failed || json::boolean(round, "converged") == false);
    });
  };
  // The two halves of a code validation are counted as one by some and as two by others.
  metric_rule(*metrics, "total_iterations", validations, count("", false), findings);
  metric_rule(*metrics, "phase_1_iterations", count("phase_1", false), std::nullopt, findings);
  metric_rule(*metrics, "phase_2_iterations", count("phase_2", false), std::nullopt, findings);
  metric_rule(*metrics, "validation_failures", count("", true), std::nullopt, findings);
  metric_rule(*metrics, "recovery_actions", recoveries, std::nullopt, findings);
}

void total_time_rule(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const Value* const found = json::child(root, "total_execution_time");
  const std::int64_t total = found != nullptr ? json::integer(*found).value_or(0) : 0;
  std::int64_t longest = 0;
  for (const Entry& entry : entries)
    longest = std::max(longest, json::integer(*entry.value, "execution_time").value_or(0));
  if (total > 0 && total < longest)
    findings.warning("S21", "/total_execution_time",
                     "total_execution_time is " + std::to_string(total) +
                         " s, but one step alone took " + std::to_string(longest) + " s",
                     found, "the sum of the entries");
}

}  // namespace

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
