#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "dialects/coordination/coordination.h"
#include "dialects/coordination/files.h"
#include "dialects/findings.h"

namespace baton::coordination {
namespace {

constexpr double kPercentTolerance = 1.0;
constexpr std::array<std::string_view, 3> kGroupLists = {"completed_groups", "in_progress_groups",
                                                         "pending_groups"};

using Tasks = std::vector<const Value*>;

std::string at(std::size_t group, std::string_view member) {
  return "/task_groups/" + std::to_string(group) + "/" + std::string(member);
}

/// S1: dependencies that do not exist.
void unknown_dependencies(const Tasks& tasks, FindingList& findings) {
  std::set<std::string> ids;
  for (const Value* const task : tasks)
    ids.insert(text_of(*task, "id"));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::size_t n = 0;
    for (const std::string& id : texts_of(*tasks[i], "depends_on")) {
      if (!ids.contains(id)) {
        findings.error("S1", at(i, "depends_on/") + std::to_string(n),
                       "there is no group `" + id + "` to depend on", {.found = json::quote(id)});
      }
      ++n;
    }
  }
}

/// S2: groups that wait for each other in a cycle.
void cycles(const Tasks& tasks, FindingList& findings) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    index.emplace(text_of(*tasks[i], "id"), i);
  // A group is free when all its dependencies are free. The rest is in a cycle or behind one.
  std::vector<bool> free(tasks.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto needs = texts_of(*tasks[i], "depends_on");
      const bool may = std::all_of(needs.begin(), needs.end(), [&](const std::string& id) {
        const auto found = index.find(id);
        return found == index.end() || free[found->second];
      });
      if (may && !free[i])
        free[i] = changed = true;
    }
  }
  const auto bound = std::find(free.begin(), free.end(), false);
  if (bound == free.end())
    return;
  // Following dependencies that are not free leads round the cycle.
  std::vector<std::size_t> way;
  auto here = static_cast<std::size_t>(bound - free.begin());
  while (std::find(way.begin(), way.end(), here) == way.end()) {
    way.push_back(here);
    for (const std::string& id : texts_of(*tasks[here], "depends_on"))
      if (const auto next = index.find(id); next != index.end() && !free[next->second]) {
        here = next->second;
        break;
      }
  }
  std::string round;
  for (auto step = std::find(way.begin(), way.end(), here); step != way.end(); ++step)
    round += text_of(*tasks[*step], "id") + " -> ";
  findings.error("S2", at(here, "depends_on"),
                 "groups depend on each other: " + round + text_of(*tasks[here], "id"));
}

/// S24: an id is used in paths, claims and commands, so it must be safe and unique.
void ids(const Tasks& tasks, FindingList& findings) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string id = text_of(*tasks[i], "id");
    std::string why;
    if (!safe_name(id))
      why =
          "the id is not a valid group id: ASCII letters and digits, `.`, `_` and `-`, beginning "
          "with a "
          "letter or digit";
    else if (!seen.insert(id).second)
      why = "`" + id + "` is the id of an earlier group";
    if (why.empty())
      continue;
    findings.error("S24", at(i, "id"), why, {.found = json::quote(id)});
  }
}

/// S25: phases and lists must name planned groups.
void unknown_ids(const Value& pm, const Tasks& tasks, FindingList& findings) {
  const auto look = [&](const Value& holder, const std::string& pointer, std::string_view list) {
    std::size_t n = 0;
    for (const std::string& id : texts_of(holder, list)) {
      const std::string place = pointer + "/" + std::string(list) + "/" + std::to_string(n++);
      if (std::none_of(tasks.begin(), tasks.end(),
                       [&](const Value* task) { return json::text(*task, "id") == id; }))
        findings.warning("S25", place,
                         "there is no group `" + printable(id, 80) + "` in task_groups");
    }
  };
  std::size_t n = 0;
  for (const Value* const phase : items(pm, "execution_phases"))
    look(*phase, "/execution_phases/" + std::to_string(n++), "group_ids");
  for (const std::string_view list : kGroupLists)
    look(pm, "", list);
}

/// S3, S4: each group must be in one list, the one that fits its status.
void lists(const Value& pm, const Tasks& tasks, FindingList& findings) {
  std::map<std::string, std::string_view> seen;
  for (const std::string_view list : kGroupLists) {
    std::size_t n = 0;
    for (const std::string& id : texts_of(pm, list)) {
      const std::string pointer = "/" + std::string(list) + "/" + std::to_string(n++);
      if (const auto [other, first] = seen.emplace(id, list); !first)
        findings.warning("S3", pointer, "`" + id + "` is also in " + std::string(other->second));
      const auto task = std::find_if(tasks.begin(), tasks.end(),
                                     [&](const Value* t) { return json::text(*t, "id") == id; });
      const auto status = task == tasks.end() ? std::nullopt : word_of(**task, "status");
      if (status && (list == kGroupLists.front()) != (status == "complete"))
        findings.warning("S4", pointer,
                         "`" + id + "` is listed here, but its group is " + std::string(*status));
    }
  }
}

/// S15: the percentage counts groups.
void percentage(const Value& pm, const Tasks& tasks, FindingList& findings) {
  const auto given = json::number(pm, "completion_percentage");
  if (!given || tasks.empty() || json::child(pm, "completed_groups") == nullptr)
    return;
  const auto done = static_cast<double>(texts_of(pm, "completed_groups").size());
  const double real = 100.0 * done / static_cast<double>(tasks.size());
  if (std::abs(*given - real) > kPercentTolerance)
    findings.warning("S15", "/completion_percentage",
                     "completion_percentage differs from the share of completed groups, " +
                         std::to_string(static_cast<int>(std::lround(real))));
}

/// S23: groups that may run side by side must not share files.
void shared_files(const Value& pm, const Tasks& tasks, FindingList& findings) {
  std::map<std::string, std::int64_t> phases;
  for (const Value* const phase : items(pm, "execution_phases"))
    for (const std::string& id : texts_of(*phase, "group_ids"))
      phases.emplace(id, json::integer(*phase, "phase_number").value_or(0));
  std::map<std::pair<std::int64_t, std::string>, std::string> owners;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string id = text_of(*tasks[i], "id");
    std::size_t n = 0;
    for (const std::string& file : texts_of(*tasks[i], "files_affected")) {
      const auto [owner, first] = owners.emplace(std::pair(phases[id], file), id);
      if (!first && owner->second != id)
        findings.warning("S23", at(i, "files_affected/") + std::to_string(n),
                         "`" + file + "` also belongs to group " + owner->second +
                             " of the same phase; the groups will not run at the same "
                             "time");
      ++n;
    }
  }
}

}  // namespace

Findings check_plan(const Value& pm) {
  FindingList findings("coordination");
  const Tasks tasks = items(pm, "task_groups");
  ids(tasks, findings);
  unknown_ids(pm, tasks, findings);
  unknown_dependencies(tasks, findings);
  cycles(tasks, findings);
  lists(pm, tasks, findings);
  if (json::text(pm, "mode") == "simple" && tasks.size() > 1)
    findings.warning("S5", "/task_groups",
                     "simple mode has one group, not " + std::to_string(tasks.size()));
  percentage(pm, tasks, findings);
  const Value* const mode = json::child(pm, "mode");
  if (mode != nullptr && mode->IsNull() &&
      (!tasks.empty() || json::integer(pm, "iteration").value_or(0) > 0))
    findings.error("S21", "/mode", "mode is null, but the project manager has already run");
  shared_files(pm, tasks, findings);
  return findings.take();
}

}  // namespace baton::coordination
