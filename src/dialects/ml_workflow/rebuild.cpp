// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "core/backup.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/ml_workflow/record.h"
#include "dialects/ml_workflow/snapshot.h"

namespace baton::ml_workflow {
namespace {

constexpr Millis kKeep = std::chrono::days(30);

std::string folder_of(const Snapshot& snapshot) {
  return snapshot.path.substr(0, snapshot.path.rfind('/'));
}

/// One entry of recovery_actions.
struct Action {
  std::string_view action;
  Json backup;  ///< time of the backup, or null
  bool success = true;
};

/// The backups, newest first, including unreadable ones.
std::multimap<Time, const Accepted*, std::greater<>> copies(const View& view) {
  std::multimap<Time, const Accepted*, std::greater<>> all;
  for (const auto& [path, accepted] : view.docs)
    if (const auto time = backup_time(accepted.part); time && accepted.kind == "backup")
      all.emplace(*time, &accepted);
  return all;
}

/// The recovered text, if it belongs to this workflow.
std::optional<std::string> recovered(const std::string& text, const View& view,
                                     std::string_view integrity, const Json& checkpoint,
                                     const std::vector<Action>& actions) {
  const auto parsed = parse_json(text);
  if (!parsed || json::text(**parsed, "workflow_id") != view.flow.name)
    return std::nullopt;
  const Value& root = **parsed;
  Json list = Json::array();
  for (const Value& old : list_at(root, "/recovery_metadata/recovery_actions"))
    list.push(Json(old));
  for (const Action& action : actions)
    list.push(Json::object({{"action", action.action},
                            {"backup_timestamp", action.backup},
                            {"success", action.success}}));
  const Json metadata =
      Json::object({{"last_checkpoint", checkpoint},
                    {"recovery_point", Json(count_of(root, "last_completed_step"))},
                    {"state_integrity", integrity},
                    {"recovery_actions", list}});
  std::vector<json::Edit> edits = {{"/recovery_metadata", metadata.dump()},
                                   {"/updated_at", json::quote(iso_time(view.wall))}};
  const auto status = parse_status(json::text(root, "status").value_or(""));
  const bool goes_on = json::text(*view.options, "after_recovery") == "running";
  if (status && !goes_on && !kStatuses.at(static_cast<std::size_t>(*status)).ended)
    edits.push_back({"/status", json::quote("paused")});
  auto edited = json::splice(text, edits);
  return edited ? std::optional(*std::move(edited)) : std::nullopt;
}

}  // namespace

BackupPlan backups(const Json& options) {
  BackupPlan plan;
  const std::string state = files(options).front().pattern;
  plan.folder = state.substr(0, state.rfind('/')) + "/backups";
  const Value& given = member(*options, "backups");
  plan.filter = texts_of(given, "encrypt");
  plan.undo = texts_of(given, "decrypt");
  plan.keep = parse_duration(text_of(given, "keep")).value_or(kKeep);
  return plan;
}

void keep_copies(Snapshot& snapshot, Decision& decision) {
  std::int64_t done = 0;
  std::int64_t step = 0;
  for (const Entry& entry : snapshot.entries) {
    done += entry.completed() ? 1 : 0;
    step = entry.completed() ? entry.step : step;
    if (entry.status == "in_progress" && snapshot.memo.folders.insert(entry.step).second)
      decision.updates.emplace_back(
          Create{folder_of(snapshot) + "/artifacts/step_" + std::to_string(entry.step) + "/.keep",
                 "", "a step started", false});
  }
  if (done <= snapshot.memo.backups)
    return;
  snapshot.memo.backups = done;
  // The names of backups must differ, even if two steps end in the same millisecond.
  snapshot.memo.backup_ms = std::max<std::int64_t>(snapshot.view.wall.time_since_epoch().count(),
                                                   snapshot.memo.backup_ms + 1);
  const BackupPlan plan = backups(snapshot.view.options);
  decision.updates.emplace_back(
      Backup{folder_of(snapshot) + "/backups/" +
                 backup_name("state_step" + std::to_string(step),
                             Time(Millis(snapshot.memo.backup_ms)), !plan.filter.empty()),
             snapshot.file.document->text(), "the backup after step " + std::to_string(step)});
}

std::vector<Create> rebuild(const View& view) {
  const std::string path = state_path(view.flow.name, view.options);
  std::vector<Create> all;
  for (const auto& [name, accepted] : view.docs) {
    if (accepted.kind != "state" || accepted.document == nullptr)
      continue;
    if (auto text = recovered(accepted.document->text(), view, "verified",
                              Json(member(accepted.document->root(), "updated_at")),
                              {{"restore_from_journal", Json(), true}}))
      all.push_back(Create{path, *std::move(text), "from the last accepted version"});
  }
  std::vector<Action> actions;
  for (const auto& [time, copy] : copies(view)) {
    const Json stamp(iso_time(time, true));
    actions.push_back({"restore_from_backup", stamp, copy->document != nullptr});
    if (copy->document == nullptr)
      continue;
    if (auto text = recovered(copy->document->text(), view, "partial", stamp, actions))
      all.push_back(Create{path, *std::move(text), "from the backup " + copy->part});
    // baton tries the next backup only if it refused this one, and that one then says so.
    actions.back().success = false;
  }
  return all;
}

}  // namespace baton::ml_workflow
