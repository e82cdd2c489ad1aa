#include "dialects/ml_workflow/report.h"

#include <cmath>
#include <set>

#include "dialects/ml_workflow/verdict.h"

namespace baton::ml_workflow {
namespace {

constexpr double kTenth = 10;
constexpr double kHundredth = 100;

double progress(const Scene& scene) {
  constexpr double kWhole = 100;
  if (scene.status == Status::completed)
    return kWhole;
  std::set<std::int64_t> done;
  for (const Entry& entry : scene.entries)
    if (entry.completed())
      done.insert(entry.step);
  return std::round(kWhole * static_cast<double>(done.size()) / kLastStep * kTenth) / kTenth;
}

/// Of the newest validation: of code, once there is one, the lower ones of both halves. The
/// overall score is for people only: 40, 30 and 30 parts of a hundred.
Json scores(const Scene& scene) {
  Scores newest = code_scores(scene.entries);
  if (newest.empty())
    newest = plan_scores(scene.entries);
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

Json report(const Scene& scene) {
  const auto converged = [&](const std::string& phase) {
    const Value* const flag = json::at(scene.root, "/convergence_status/" + phase + "_converged");
    return Json(flag != nullptr && json::boolean(*flag).value_or(false));
  };
  return Json::object(
      {{"workflow_id", Json(json::text(scene.root, "workflow_id").value_or(""))},
       {"status", Json(json::text(scene.root, "status").value_or(""))},
       {"current_phase", Json(json::text(scene.root, "current_phase").value_or(""))},
       {"current_step", Json(json::integer(scene.root, "current_step").value_or(0))},
       {"progress_percentage", Json(progress(scene))},
       {"converged",
        Json::object({{"phase_1", converged("phase_1")}, {"phase_2", converged("phase_2")}})},
       {"latest_scores", scores(scene)}});
}

}  // namespace baton::ml_workflow
