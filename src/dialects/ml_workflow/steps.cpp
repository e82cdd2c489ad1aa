#include "dialects/ml_workflow/steps.h"

#include <algorithm>
#include <array>
#include <string>

#include "dialects/timestamps.h"

namespace baton::ml_workflow {
namespace {

struct StepRow {
  std::int64_t step;
  std::string_view agent;
  std::string_view successors;
  std::array<std::string_view, 3> templates;
};
// The origin has renamed the template of 5a from two_level to three_level. Both are in use.
constexpr std::string_view k5a = "step5a_two_level_validation_agent_prompt_template.md";
constexpr std::string_view k5aRenamed = "step5a_three_level_validation_agent_prompt_template.md";
constexpr std::string_view k5b =
    "step5b_two_level_standardization_validation_agent_prompt_template.md";
constexpr std::array kSteps = {
    StepRow{1, "planner", "2", {"step1_initial_planner_prompt_template.md"}},
    StepRow{2, "validator", "3, 4", {"step2_plan_validator_prompt_template.md"}},
    StepRow{3, "planner", "2", {"step3_revision_planner_prompt_template.md"}},
    StepRow{4, "programmer", "5", {"step4_programmer_prompt_template.md"}},
    StepRow{5, "validator", "5, 6", {k5a, k5aRenamed, k5b}},
    StepRow{6, "programmer", "5, 7", {"step6_code_refinement_programmer_prompt_template.md"}},
    StepRow{7, "validator", "6, 7", {k5a, k5aRenamed, k5b}},
};
static_assert(kSteps.size() == kLastStep);

const StepRow* row_of(std::int64_t step) {
  return step >= 1 && step <= kLastStep ? &kSteps[static_cast<std::size_t>(step - 1)] : nullptr;
}

Half half_of(std::string_view file) {
  const bool a = file.find("step5a") != std::string_view::npos;
  const bool b = file.find("step5b") != std::string_view::npos;
  if (a && b)
    return Half::both;
  if (a)
    return Half::a;
  return b ? Half::b : Half::whole;
}

/// The half of an entry whose template names both: the reports in the output decide (K-18).
Half reported(const Value& value) {
  const Value* const output = json::child(value, "output");
  bool a = false;
  bool b = false;
  if (output != nullptr && output->IsObject())
    for (const auto& member : output->GetObject()) {
      const std::string_view name = member.name.GetString();
      const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
      a = a || has("alignment") || has("5a");
      b = b || has("standardization") || has("5b");
    }
  if (a && b)
    return Half::both;
  if (a)
    return Half::a;
  return b ? Half::b : Half::whole;
}

Entry entry_of(const Value& value, std::size_t index) {
  Entry entry;
  entry.value = &value;
  entry.index = index;
  entry.step = json::integer(value, "step_number").value_or(0);
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

std::optional<Time> end_of(const Entry& entry) {
  const auto end = timestamp(*entry.value, "completed_at");
  return end ? end : timestamp(*entry.value, "timestamp");
}

std::vector<Entry> history(const Value& root) {
  std::vector<Entry> entries;
  const Value* const list = json::child(root, "step_history");
  if (list == nullptr || !list->IsArray())
    return entries;
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i)
    if (Entry entry = entry_of((*list)[i], i); entry.status != "skipped")
      entries.push_back(entry);
  return entries;
}

std::size_t plan_start(const Value& root) {
  std::int64_t first = 0;
  if (const Value* const list = json::child(root, "phase_transitions");
      list != nullptr && list->IsArray())
    for (const Value& transition : list->GetArray())
      if (json::text(transition, "to_phase") == "phase_1")
        first = json::integer(transition, "entry").value_or(first);
  return first < 0 ? 0 : static_cast<std::size_t>(first);
}

std::string_view template_of(std::int64_t step, Half half) {
  const StepRow* const row = row_of(step);
  if (row == nullptr)
    return "";
  return half == Half::b ? row->templates.back() : row->templates.front();
}

bool plan_validation(std::int64_t step) {
  return step == 2;
}
bool code_validation(std::int64_t step) {
  return step == 5 || step == 7;
}
bool code_change(std::int64_t step) {
  return step == 4 || step == 6;
}

std::string_view agent_of(std::int64_t step) {
  const StepRow* const row = row_of(step);
  return row != nullptr ? row->agent : "";
}

std::string_view successors(std::int64_t step) {
  const StepRow* const row = row_of(step);
  return row != nullptr ? row->successors : "1";
}

bool follows(std::int64_t step, std::int64_t next) {
  return successors(step).find(std::to_string(next)) != std::string_view::npos;
}

bool template_fits(std::int64_t step, std::string_view file) {
  const StepRow* const row = row_of(step);
  if (row == nullptr)
    return false;
  if (code_validation(step) && half_of(file) == Half::both)
    return true;
  return !file.empty() &&
         std::find(row->templates.begin(), row->templates.end(), file) != row->templates.end();
}

}  // namespace baton::ml_workflow
