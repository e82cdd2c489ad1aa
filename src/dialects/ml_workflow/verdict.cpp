#include "dialects/ml_workflow/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

/// Adds the scores of a validation. If a score is there already, the lower one stays.
void lower(Scores& scores, const Entry& entry) {
  const Value* const given = json::child(*entry.value, "validation_scores");
  if (given == nullptr)
    return;
  for (const ScoreRow& row : kScores)
    if (const auto score = json::number(*given, row.score)) {
      const auto [at, added] = scores.emplace(row.score, *score);
      if (!added)
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
  const Value* const output = json::child(*entry.value, "output");
  if (output == nullptr || !code_validation(entry.step))
    return std::nullopt;
  const auto all = all_tools(*output);
  const auto critical = json::integer(*output, "critical");
  const auto passed = json::boolean(*output, "passed");
  if (!all && !critical && !passed)
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

double progress(const Snapshot& snapshot) {
  constexpr double kWhole = 100;
  if (snapshot.status == Status::completed)
    return kWhole;
  std::set<std::int64_t> done;
  for (const Entry& entry : snapshot.entries)
    if (entry.completed())
      done.insert(entry.step);
  return std::round(kWhole * static_cast<double>(done.size()) / kLastStep * kTenth) / kTenth;
}

/// Scores of the newest code validation, or of the plan if there is none. overall_score is only for
/// display.
Json scores(const Snapshot& snapshot) {
  Scores newest = code_scores(snapshot.entries);
  if (newest.empty())
    newest = plan_scores(snapshot.entries);
  Json all = Json::object();
  double overall = 0;
  for (const ScoreRow& row : kScores) {
    const auto score = newest.find(row.score);
    if (score == newest.end())
      continue;
    all.set(row.score, Json(score->second));
    overall += score->second * row.weight;
  }
  if (newest.size() == kScores.size())
    all.set("overall_score", Json(std::round(overall * kHundredth) / kHundredth));
  return all;
}

}  // namespace

double threshold(const Value& root, const ScoreRow& row) {
  const Value* const criteria = json::at(root, "/convergence_status/convergence_criteria");
  return criteria != nullptr ? json::number(*criteria, row.threshold).value_or(row.least)
                             : row.least;
}

Scores plan_scores(const std::vector<Entry>& entries) {
  Scores scores;
  const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) {
    return plan_validation(entry.step) && entry.completed();
  });
  if (last != entries.rend())
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
    return std::any_of(
               entries.begin(), entries.end(),
               [](const Entry& entry) { return plan_validation(entry.step) && entry.completed(); })
               ? Validated::all
               : Validated::nothing;
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

Json report(const Snapshot& snapshot) {
  const auto converged = [&](const std::string& phase) {
    const Value* const flag =
        json::at(snapshot.root, "/convergence_status/" + phase + "_converged");
    return Json(flag != nullptr && json::boolean(*flag).value_or(false));
  };
  return Json::object(
      {{"workflow_id", Json(json::text(snapshot.root, "workflow_id").value_or(""))},
       {"status", Json(json::text(snapshot.root, "status").value_or(""))},
       {"current_phase", Json(json::text(snapshot.root, "current_phase").value_or(""))},
       {"current_step", Json(json::integer(snapshot.root, "current_step").value_or(0))},
       {"progress_percentage", Json(progress(snapshot))},
       {"converged",
        Json::object({{"phase_1", converged("phase_1")}, {"phase_2", converged("phase_2")}})},
       {"latest_scores", scores(snapshot)}});
}

}  // namespace baton::ml_workflow
