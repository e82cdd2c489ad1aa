#include "dialects/ccw_loop/tasks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "dialects/ccw_loop/loop.h"

namespace baton::ccw_loop {
namespace {

/// The places, in the order in which they are looked for.
enum class Place {
  none,
  in_folder,
  beside,
  one_by_one,
  alias_in_folder,
  alias_beside,
  alias_in_progress,
  spare
};
constexpr std::array kPlaces = {Place::in_folder,    Place::beside,
                                Place::one_by_one,   Place::alias_in_folder,
                                Place::alias_beside, Place::alias_in_progress,
                                Place::spare};

/// `tasks.json`, as other texts of the origin call it (C-28).
Place alias_of(const std::string& path) {
  if (path.ends_with(".progress/tasks.json"))
    return Place::alias_in_progress;
  return path.ends_with("/tasks.json") ? Place::alias_in_folder : Place::alias_beside;
}

Place place_of(const std::string& path, const Accepted& accepted) {
  if (!accepted.present || accepted.document == nullptr)
    return Place::none;
  if (accepted.kind == "task")
    return Place::one_by_one;
  if (accepted.kind == "tasks_backup")
    return Place::spare;
  if (accepted.kind == "tasks_alias")
    return alias_of(path);
  if (accepted.kind != "tasks")
    return Place::none;
  return path.ends_with("/tasks.jsonl") ? Place::in_folder : Place::beside;
}

std::string id_of(const Value& task) {
  std::string id = text_of(task, "task_id");
  return id.empty() ? text_of(task, "id") : id;
}

void add(const Value& task, std::vector<const Value*>& tasks) {
  if (!task.IsObject() || id_of(task).empty())
    return;
  const auto earlier = std::find_if(
      tasks.begin(), tasks.end(), [&](const Value* other) { return id_of(*other) == id_of(task); });
  if (earlier != tasks.end())
    tasks.erase(earlier);
  tasks.push_back(&task);
}

std::int64_t order_of(const Value* task) {
  return json::integer(*task, "order").value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

TaskList task_list(const FlowState& docs, bool spare) {
  TaskList found;
  for (const Place place : kPlaces) {
    if (place == Place::spare && !spare)
      continue;
    for (const auto& [path, accepted] : docs) {
      if (place_of(path, accepted) != place)
        continue;
      found.paths.push_back(path);
      const Value& whole = accepted.document->root();
      // An alias may have its list in an object.
      const Value& root = member(whole, "tasks").IsArray() ? member(whole, "tasks") : whole;
      if (root.IsArray())
        for (const Value& task : root.GetArray())
          add(task, found.tasks);
      else
        add(root, found.tasks);
    }
    if (!found.paths.empty())
      break;
  }
  std::stable_sort(found.tasks.begin(), found.tasks.end(),
                   [](const Value* a, const Value* b) { return order_of(a) < order_of(b); });
  return found;
}

Json develop_tasks(const TaskList& list) {
  Json all = Json::array();
  for (const Value* const task : list.tasks) {
    const std::string mode = text_of(*task, "mode");
    std::string description = text_of(*task, "description");
    if (description.empty())
      description = text_of(*task, "title");
    Json mapped = Json::object({{"id", id_of(*task)}, {"description", description}});
    if (const std::string tool = text_of(*task, "tool"); !tool.empty())
      mapped.set("tool", tool);
    if (!mode.empty())
      mapped.set("mode", mode == "review" ? "analysis" : mode);
    mapped.set("status", "pending").set("files_changed", Json::array());
    if (const std::string made = text_of(*task, "created_at"); !made.empty())
      mapped.set("created_at", made);
    mapped.set("completed_at", Json());
    for (const std::string_view extra : {"prompt_template", "command", "on_error", "order"})
      if (const Value* const value = json::child(*task, extra))
        mapped.set(extra, *value);
    all.push(mapped);
  }
  return all;
}

}  // namespace baton::ccw_loop
