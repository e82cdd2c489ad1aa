// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seven steps as tables, and the entries of step_history as values.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/time.h"

namespace baton::ml_workflow {

/// Steps 5 and 7 are two validator runs each: a checks alignment, b standards. The template names
/// the half. If it names both, the reports in the output say which halves the entry stands for.
enum class Half { whole, a, b, both };

/// One entry of step_history. Points into the document.
struct Entry {
  const Value* value = nullptr;
  std::size_t index = 0;  ///< index in step_history
  std::int64_t step = 0;
  std::string_view agent;
  std::string_view status;
  std::string_view file;  ///< file name of the template, without folders
  Half half = Half::whole;

  bool completed() const { return status == "completed"; }
};

/// The items of the list at a pointer; none without a list.
Value::ConstArray list_at(const Value& root, std::string_view pointer);
/// The boolean at a pointer; false without one.
bool flag_at(const Value& root, std::string_view pointer);

/// The error_info of an entry, or null.
const Value& error_of(const Entry& entry);
/// Its `recovery_attempts`.
std::int64_t recovery_attempts(const Entry& entry);
/// Its `recovery_strategies`.
Value::ConstArray recoveries(const Entry& entry);

/// The end of an entry. Older programs write `timestamp` instead of two times (K-36).
std::optional<Time> end_of(const Entry& entry);

/// The entries without `skipped` ones, oldest first.
std::vector<Entry> history(const Value& root);
/// Index in step_history where the present plan begins: 0, or where a person sent the workflow back
/// from phase_2.
std::size_t plan_start(const Value& root);

constexpr std::int64_t kLastStep = 7;
constexpr std::int64_t kFirstCodeStep = 4;

constexpr bool plan_validation(std::int64_t step) {
  return step == 2;
}
constexpr bool code_validation(std::int64_t step) {
  return step == 5 || step == 7;
}
constexpr bool code_change(std::int64_t step) {
  return step == 4 || step == 6;
}

/// The agent of a step, 1 to 7.
std::string_view agent_of(std::int64_t step);
/// The purpose of its runs.
std::string_view purpose_of(std::int64_t step);
/// The file name of the step's template.
std::string_view template_of(std::int64_t step, Half half);
/// The steps that may follow a completed step; 0 is the start.
std::string_view successors(std::int64_t step);
/// Whether `next` may follow a completed `step`.
bool follows(std::int64_t step, std::int64_t next);
/// Whether a template belongs to a step. One that names both halves belongs to 5 and 7.
bool template_fits(std::int64_t step, std::string_view file);

}  // namespace baton::ml_workflow
