// SPDX-License-Identifier: Apache-2.0
#include "dialects/ml_workflow/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

/// Adds the scores of a validation. If a score is there already, the lower one stays.
void lower(Scores& scores, const Entry& entry) {
  const Value& given = member(*entry.value, "validation_scores");
  for (const ScoreRow& row : kScores)
    if (const auto score = json::number(given, row.score)) {
      const auto at = scores.emplace(row.score, *score).first;
      at->second = std::min(at->second, *score);
    }
}

/// The newest completed validation of each half since the code last changed, newest first.
std::vector<const Entry*> newest_code(const std::vector<Entry>& entries) {
  std::vector<const Entry*> newest;
  std::array<bool, 4> seen{};
  for (auto entry = entries.rbegin(); entry != entries.rend() && !code_change(entry->step);
       ++entry) {
    if (!code_validation(entry->step) || !entry->completed())
      continue;
    bool& known = seen[static_cast<std::size_t>(entry->half)];
    if (!known)
      newest.push_back(&*entry);
    known = true;
  }
  return newest;
}

/// Whether `tools_passed`, such as "8/8", says that all tools passed. Not set: the output does not
/// have it.
std::optional<bool> all_tools(const Value& output) {
  const auto text = json::text(output, "tools_passed");
  if (!text)
    return std::nullopt;
  const auto slash = text->find('/');
  if (slash == std::string_view::npos)
    return false;
  // "0/0" means that no tool ran, so it is no pass.
  const std::string_view all = text->substr(slash + 1);
  return text->substr(0, slash) == all && all.find_first_of("123456789") != std::string_view::npos;
}

/// What the tools of a code validation found wrong; empty: the tools passed. Not set: the output
/// tells nothing about tools.
std::optional<std::string> tools(const Entry& entry) {
  const Value& output = member(*entry.value, "output");
  const auto all = all_tools(output);
  const auto critical = json::integer(output, "critical");
  const auto passed = json::boolean(output, "passed");
  if (!code_validation(entry.step) || (!all && !critical && !passed))
    return std::nullopt;
  std::vector<std::string> faults;
  if (!all.value_or(true))
    faults.emplace_back("not all tools passed");
  if (critical.value_or(0) != 0)
    faults.push_back("critical findings: " + std::to_string(*critical));
  if (!passed.value_or(true))
    faults.emplace_back("passed is false");
  return join(faults, ", ");
}

constexpr double kTenth = 10;
constexpr double kHundredth = 100;

double percentage(const Snapshot& snapshot) {
  constexpr double kWhole = 100;
  const Progress made = progress(snapshot);
  return std::round(kWhole * static_cast<double>(made.done) / static_cast<double>(made.total) *
                    kTenth) /
         kTenth;
}

/// Scores of the newest code validation, or of the plan if there is none. overall_score is only for
/// display.
Json scores(const Snapshot& snapshot) {
  Scores newest = code_scores(snapshot.entries);
  if (newest.empty())
    newest = plan_scores(snapshot.entries);
  Json all = json_of(newest);
  double overall = 0;
  for (const ScoreRow& row : kScores)
    overall += newest[row.score] * row.weight;
  if (all->MemberCount() == kScores.size())
    all.set("overall_score", Json(std::round(overall * kHundredth) / kHundredth));
  return all;
}

}  // namespace

const Entry* newest_plan(const std::vector<Entry>& entries) {
  const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) {
    return plan_validation(entry.step) && entry.completed();
  });
  return last == entries.rend() ? nullptr : &*last;
}

double threshold(const Value& root, const ScoreRow& row) {
  return json::number(value_at(root, "/convergence_status/convergence_criteria"), row.threshold)
      .value_or(row.least);
}

Scores plan_scores(const std::vector<Entry>& entries) {
  Scores scores;
  if (const Entry* const last = newest_plan(entries))
    lower(scores, *last);
  return scores;
}

Scores code_scores(const std::vector<Entry>& entries) {
  Scores scores;
  for (const Entry* const entry : newest_code(entries))
    lower(scores, *entry);
  return scores;
}

Validated validated(const std::vector<Entry>& entries, bool plan) {
  if (plan)
    return newest_plan(entries) != nullptr ? Validated::all : Validated::nothing;
  const auto newest = newest_code(entries);
  if (newest.empty())
    return Validated::nothing;
  std::set<Half> halves;
  std::size_t runs = 0;
  for (const Entry* const entry : newest)
    halves.insert(entry->half);
  for (auto entry = entries.rbegin(); entry != entries.rend() && !code_change(entry->step); ++entry)
    runs += code_validation(entry->step) && entry->completed() ? 1U : 0U;
  // An entry that does not name its half may be either one, so two of them count as both halves.
  const bool whole = halves.contains(Half::both) || halves.size() > 1 ||
                     (halves.contains(Half::whole) && runs > 1);
  return whole ? Validated::all : Validated::half;
}

bool has_verdict(const Entry& entry) {
  Scores scores;
  lower(scores, entry);
  return !scores.empty() || tools(entry).has_value();
}

Json json_of(const Scores& scores) {
  Json all = Json::object();
  for (const auto& [name, score] : scores)
    all.set(name, Json(score));
  return all;
}

Round judge_round(const Value& root, const std::vector<Entry>& entries, bool plan) {
  Round round;
  round.scores = plan ? plan_scores(entries) : code_scores(entries);
  const auto say = [&](const std::string& fault) {
    round.why += (round.why.empty() ? "" : "; ") + fault;
  };
  // Findings of tools count only if the validation gives no scores.
  if (!plan)
    for (const Entry* const entry : newest_code(entries)) {
      if (Scores given; lower(given, *entry), !given.empty())
        continue;
      const auto fault = tools(*entry);
      if (!fault || !fault->empty())
        say("step " + std::to_string(entry->step) + ": " +
            fault.value_or("it has neither scores nor findings of tools"));
    }
  if (plan || !round.scores.empty())
    for (const ScoreRow& row : kScores) {
      const auto score = round.scores.find(row.score);
      const double least = threshold(root, row);
      if (score == round.scores.end())
        say(std::string(row.score) + " is missing");
      else if (score->second < least)
        say(std::string(row.score) + " " + Json(score->second).dump() + " < " + Json(least).dump());
    }
  round.pass = round.why.empty();
  return round;
}

Progress progress(const Snapshot& snapshot) {
  std::set<std::int64_t> done;
  for (const Entry& entry : snapshot.entries)
    if (entry.completed())
      done.insert(entry.step);
  const bool completed = snapshot.status == Status::completed;
  return {completed ? std::uint64_t{kLastStep} : done.size(), kLastStep, "steps"};
}

Json report(const Snapshot& snapshot) {
  const auto converged = [&](const std::string& phase) {
    return Json(flag_at(snapshot.root, "/convergence_status/" + phase + "_converged"));
  };
  return Json::object({{"workflow_id", text_of(snapshot.root, "workflow_id")},
                       {"status", text_of(snapshot.root, "status")},
                       {"current_phase", text_of(snapshot.root, "current_phase")},
                       {"current_step", Json(count_of(snapshot.root, "current_step"))},
                       {"progress_percentage", Json(percentage(snapshot))},
                       {"converged", Json::object({{"phase_1", converged("phase_1")},
                                                   {"phase_2", converged("phase_2")}})},
                       {"latest_scores", scores(snapshot)}});
}

}  // namespace baton::ml_workflow
