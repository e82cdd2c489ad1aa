// SPDX-License-Identifier: Apache-2.0
#include "dialects/ml_workflow/steps.h"

#include <algorithm>
#include <array>
#include <string>

#include "dialects/kinds.h"
#include "dialects/timestamps.h"

namespace baton::ml_workflow {
namespace {

struct StepRow {
  std::int64_t step;
  std::string_view agent;
  std::string_view successors;
  std::string_view purpose;
  std::array<std::string_view, 3> templates;
};
// The origin has renamed the template of 5a from two_level to three_level. Both are in use.
constexpr std::string_view k5a = "step5a_two_level_validation_agent_prompt_template.md";
constexpr std::string_view k5aRenamed = "step5a_three_level_validation_agent_prompt_template.md";
constexpr std::string_view k5b =
    "step5b_two_level_standardization_validation_agent_prompt_template.md";
constexpr std::array kSteps = {
    StepRow{1, "planner", "2", "planning", {"step1_initial_planner_prompt_template.md"}},
    StepRow{2, "validator", "3, 4", "validate_plan", {"step2_plan_validator_prompt_template.md"}},
    StepRow{3, "planner", "2", "revise_plan", {"step3_revision_planner_prompt_template.md"}},
    StepRow{4, "programmer", "5", "implement", {"step4_programmer_prompt_template.md"}},
    StepRow{5, "validator", "5, 6", "validate_code", {k5a, k5aRenamed, k5b}},
    StepRow{
        6, "programmer", "5, 7", "refine", {"step6_code_refinement_programmer_prompt_template.md"}},
    StepRow{7, "validator", "6, 7", "validate_code", {k5a, k5aRenamed, k5b}},
};
static_assert(kSteps.size() == kLastStep);

const StepRow* step_row(std::int64_t step) {
  return step >= 1 && step <= kLastStep ? &kSteps[static_cast<std::size_t>(step - 1)] : nullptr;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Half half_from(bool a, bool b) {
  if (a && b)
    return Half::both;
  return a ? Half::a : b ? Half::b : Half::whole;
}

Half half_of(std::string_view file) {
  return half_from(contains(file, "step5a"), contains(file, "step5b"));
}

/// The half of an entry whose template names both: the reports in the output decide (K-18).
Half reported(const Value& value) {
  bool a = false;
  bool b = false;
  for (const auto& member : members_in(value, "output")) {
    const std::string_view name = json::name(member.name);
    a = a || contains(name, "alignment") || contains(name, "5a");
    b = b || contains(name, "standardization") || contains(name, "5b");
  }
  return half_from(a, b);
}

Entry entry_of(const Value& value, std::size_t index) {
  Entry entry;
  entry.value = &value;
  entry.index = index;
  entry.step = count_of(value, "step_number");
  entry.agent = json::text(value, "agent").value_or("");
  entry.status = json::text(value, "status").value_or("");
  const std::string_view path = json::text(value, "template").value_or("");
  entry.half = half_of(path);
  if (entry.half == Half::both)
    entry.half = reported(value);
  entry.file = path.substr(path.rfind('/') + 1);
  return entry;
}

}  // namespace

Value::ConstArray list_at(const Value& root, std::string_view pointer) {
  return items_in(json::at(root, pointer));
}

bool flag_at(const Value& root, std::string_view pointer) {
  return json::boolean(value_at(root, pointer)).value_or(false);
}

const Value& error_of(const Entry& entry) {
  return member(*entry.value, "error_info");
}

std::int64_t recovery_attempts(const Entry& entry) {
  return count_of(error_of(entry), "recovery_attempts");
}

Value::ConstArray recoveries(const Entry& entry) {
  return items_in(error_of(entry), "recovery_strategies");
}

std::optional<Time> end_of(const Entry& entry) {
  const auto end = timestamp(*entry.value, "completed_at");
  return end ? end : timestamp(*entry.value, "timestamp");
}

std::vector<Entry> history(const Value& root) {
  std::vector<Entry> entries;
  std::size_t index = 0;
  for (const Value& item : items_in(root, "step_history"))
    if (Entry entry = entry_of(item, index++); entry.status != "skipped")
      entries.push_back(entry);
  return entries;
}

std::size_t plan_start(const Value& root) {
  std::int64_t first = 0;
  for (const Value& transition : items_in(root, "phase_transitions"))
    if (json::text(transition, "to_phase") == "phase_1")
      first = json::integer(transition, "entry").value_or(first);
  return first < 0 ? 0 : static_cast<std::size_t>(first);
}

std::string_view template_of(std::int64_t step, Half half) {
  const StepRow* const row = step_row(step);
  if (row == nullptr)
    return "";
  return half == Half::b ? row->templates.back() : row->templates.front();
}

std::string_view agent_of(std::int64_t step) {
  const StepRow* const row = step_row(step);
  return row != nullptr ? row->agent : "";
}

std::string_view purpose_of(std::int64_t step) {
  const StepRow* const row = step_row(step);
  return row != nullptr ? row->purpose : "";
}

std::string_view successors(std::int64_t step) {
  const StepRow* const row = step_row(step);
  return row != nullptr ? row->successors : "1";
}

bool follows(std::int64_t step, std::int64_t next) {
  return successors(step).find(std::to_string(next)) != std::string_view::npos;
}

bool template_fits(std::int64_t step, std::string_view file) {
  const StepRow* const row = step_row(step);
  if (row == nullptr)
    return false;
  if (code_validation(step) && half_of(file) == Half::both)
    return true;
  return !file.empty() &&
         std::find(row->templates.begin(), row->templates.end(), file) != row->templates.end();
}

}  // namespace baton::ml_workflow
