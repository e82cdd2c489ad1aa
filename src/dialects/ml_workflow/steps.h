#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/time.h"

namespace baton::ml_workflow {

/// Steps 5 and 7 are two runs of the validator: a checks alignment, b standards. A template names
/// which; one that names both did both.
enum class Half { whole, a, b, both };

/// One run of one step, as step_history has it. Points into the document.
struct Entry {
  const Value* value = nullptr;
  std::size_t index = 0;  ///< in step_history
  std::int64_t step = 0;
  std::string_view agent;
  std::string_view status;
  std::string_view file;  ///< file name of the template, without folders
  Half half = Half::whole;

  bool completed() const { return status == "completed"; }
};

/// When it ended. Older programs write `timestamp` instead of the two times (K-36).
std::optional<Time> end_of(const Entry& entry);

/// The entries that count: `skipped` ones change nothing. Oldest first.
std::vector<Entry> history(const Value& root);
/// Where in step_history the work on the present plan begins: 0, or where a person has sent the
/// workflow back from phase_2. What lies in front of it was made for another plan.
std::size_t first_of_plan(const Value& root);

constexpr std::int64_t kLastStep = 7;
constexpr std::int64_t kFirstCodeStep = 4;

bool plan_validation(std::int64_t step);  ///< 2
bool code_validation(std::int64_t step);  ///< 5, 7
bool code_change(std::int64_t step);      ///< 4, 6

/// Who does a step of 1 to 7.
std::string_view agent_of(std::int64_t step);
/// The file name of its template.
std::string_view template_of(std::int64_t step, Half half);
/// What may come after a step that was completed, 0 being the start; empty after none.
std::string_view successors(std::int64_t step);
/// Whether `next` may follow a completed `step`.
bool follows(std::int64_t step, std::int64_t next);
/// Whether a template belongs to a step. A file that names both halves of 5 or 7 does.
bool template_fits(std::int64_t step, std::string_view file);

}  // namespace baton::ml_workflow
