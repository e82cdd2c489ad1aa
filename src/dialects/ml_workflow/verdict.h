// SPDX-License-Identifier: Apache-2.0
#pragma once

// Judges a round of validation: scores against thresholds, and what tools found.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/ml_workflow/steps.h"
#include "dialects/ml_workflow/words.h"

namespace baton::ml_workflow {

/// Scores by name, without those that no validation has given.
using Scores = std::map<std::string_view, double>;

Json json_of(const Scores& scores);

/// The threshold of a score: the file's criteria, or the default.
double threshold(const Value& root, const ScoreRow& row);

/// The newest completed validation of the plan; nullptr: none.
const Entry* newest_plan(const std::vector<Entry>& entries);
/// Scores of the newest plan validation.
Scores plan_scores(const std::vector<Entry>& entries);
/// Scores of the newest validation of each half since the code last changed. If both halves give a
/// score, the lower one counts.
Scores code_scores(const std::vector<Entry>& entries);
/// How much of the present plan or code was validated.
enum class Validated { nothing, half, all };
Validated validated(const std::vector<Entry>& entries, bool plan);

/// How a round of validation came out.
struct Round {
  bool pass = false;
  Scores scores;
  std::string why;  ///< if not passed: the reasons
};
/// Judges the newest round of a phase, which must be complete.
Round judge_round(const Value& root, const std::vector<Entry>& entries, bool plan);

/// Whether a completed validation has a result: scores, or the findings of tools.
bool has_verdict(const Entry& entry);

}  // namespace baton::ml_workflow
