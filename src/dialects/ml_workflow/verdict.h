#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/ml_workflow/steps.h"
#include "dialects/ml_workflow/words.h"

namespace baton::ml_workflow {

/// By name. Absent: nobody gave it.
using Scores = std::map<std::string_view, double>;

/// What a score has to reach: the file's criteria, or the default.
double threshold(const Value& root, const ScoreRow& row);

/// The scores of the newest plan validation.
Scores plan_scores(const std::vector<Entry>& entries);
/// The newest validation of each half since the code last changed; the lower score counts.
Scores code_scores(const std::vector<Entry>& entries);
/// How much of what the newest plan, or the code since it last changed, has to pass was completed.
enum class Validated { nothing, half, all };
Validated validated(const std::vector<Entry>& entries, bool plan);

/// How a round of validation came out.
struct Round {
  bool pass = false;
  Scores scores;
  std::string why;  ///< when not passed: each score below its threshold
};
/// The newest round of a phase; it has to be complete.
Round judge_round(const Value& root, const std::vector<Entry>& entries, bool plan);

/// Whether a completed validation says anything at all: a score, or how many tools passed.
bool has_verdict(const Entry& entry);

}  // namespace baton::ml_workflow
