#include "dialects/ml_workflow/backup.h"

#include <algorithm>

#include "dialects/ml_workflow/files.h"

namespace baton::ml_workflow {
namespace {

constexpr std::string_view kDays = "30d";

std::vector<std::string> words(const Value& plan, std::string_view name) {
  std::vector<std::string> argv;
  for (const Value* const word : list_at(plan, "/" + std::string(name)))
    argv.emplace_back(json::text(*word).value_or(""));
  return argv;
}

std::string folder_of(const Scene& scene) {
  return scene.path.substr(0, scene.path.rfind('/'));
}

}  // namespace

BackupPlan backups(const Json& options) {
  BackupPlan plan;
  const std::string state = files(options).front().pattern;
  plan.folder = state.substr(0, state.rfind('/')) + "/backups";
  const Value* const given = json::child(*options, "backups");
  plan.keep = parse_duration(kDays).value_or(Millis(0));
  if (given == nullptr || !given->IsObject())
    return plan;
  plan.filter = words(*given, "encrypt");
  plan.undo = words(*given, "decrypt");
  if (const auto keep = json::text(*given, "keep"))
    plan.keep = parse_duration(*keep).value_or(plan.keep);
  return plan;
}

void keep_copies(Scene& scene, Decision& decision) {
  std::int64_t done = 0;
  std::int64_t step = 0;
  for (const Entry& entry : scene.entries) {
    done += entry.completed() ? 1 : 0;
    step = entry.completed() ? entry.step : step;
    if (entry.status == "in_progress" && scene.memo.folders.insert(entry.step).second)
      decision.updates.emplace_back(
          Create{folder_of(scene) + "/artifacts/step_" + std::to_string(entry.step) + "/.keep", "",
                 "a step begins", false});
  }
  if (done <= scene.memo.backups)
    return;
  scene.memo.backups = done;
  // No two have the same name, however fast steps follow each other.
  scene.memo.backup_ms =
      std::max<std::int64_t>(scene.view.wall.time_since_epoch().count(), scene.memo.backup_ms + 1);
  const BackupPlan plan = backups(scene.view.options);
  decision.updates.emplace_back(
      Backup{folder_of(scene) + "/backups/" +
                 backup_name("state_step" + std::to_string(step),
                             Time(Millis(scene.memo.backup_ms)), !plan.filter.empty()),
             scene.file.document->text(), "the backup after step " + std::to_string(step)});
}

}  // namespace baton::ml_workflow
