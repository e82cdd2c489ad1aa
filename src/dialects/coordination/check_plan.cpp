// SPDX-License-Identifier: Apache-2.0
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

std::string at(std::size_t group) {
  return "/task_groups/" + std::to_string(group);
}

/// The group with this id; nullptr: none.
const Value* task_of(const Tasks& tasks, std::string_view id) {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const Value* task) { return json::text(*task, "id") == id; });
  return found == tasks.end() ? nullptr : *found;
}

/// S1: dependencies that do not exist.
void unknown_dependencies(const Tasks& tasks, FindingList& findings) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    each_text(*tasks[i], at(i), "depends_on", [&](const std::string& id, std::string pointer) {
      if (task_of(tasks, id) == nullptr)
        findings.error("S1", std::move(pointer), "there is no group `" + id + "` to depend on",
                       {.found = json::quote(id)});
    });
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
  findings.error("S2", at(here) + "/depends_on",
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
    findings.error("S24", at(i) + "/id", why, {.found = json::quote(id)});
  }
}

/// S25: phases and lists must name planned groups.
void unknown_ids(const Value& pm, const Tasks& tasks, FindingList& findings) {
  const auto look = [&](const std::string& id, std::string pointer) {
    if (task_of(tasks, id) == nullptr)
      findings.warning("S25", std::move(pointer),
                       "there is no group `" + printable(id, 80) + "` in task_groups");
  };
  std::size_t n = 0;
  for (const Value& phase : items_in(pm, "execution_phases"))
    each_text(phase, item_pointer("/execution_phases", n++), "group_ids", look);
  for (const std::string_view list : kGroupLists)
    each_text(pm, "", list, look);
}

/// S3, S4: each group must be in one list, the one that fits its status.
void lists(const Value& pm, const Tasks& tasks, FindingList& findings) {
  std::map<std::string, std::string_view> seen;
  for (const std::string_view list : kGroupLists)
    each_text(pm, "", list, [&](const std::string& id, const std::string& pointer) {
      if (const auto [other, first] = seen.emplace(id, list); !first)
        findings.warning("S3", pointer, "`" + id + "` is also in " + std::string(other->second));
      const Value* const task = task_of(tasks, id);
      const auto status = task == nullptr ? std::nullopt : word_of(*task, "status");
      if (status && (list == kGroupLists.front()) != (status == "complete"))
        findings.warning("S4", pointer,
                         "`" + id + "` is listed here, but its group is " + std::string(*status));
    });
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
  for (const Value& phase : items_in(pm, "execution_phases"))
    for (const std::string& id : texts_of(phase, "group_ids"))
      phases.emplace(id, count_of(phase, "phase_number"));
  std::map<std::pair<std::int64_t, std::string>, std::string> owners;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string id = text_of(*tasks[i], "id");
    each_text(
        *tasks[i], at(i), "files_affected", [&](const std::string& file, std::string pointer) {
          const auto [owner, first] = owners.emplace(std::pair(phases[id], file), id);
          if (!first && owner->second != id)
            findings.warning("S23", std::move(pointer),
                             "`" + file + "` also belongs to group " + owner->second +
                                 " of the same phase; the groups will not run at the same time");
        });
  }
}

}  // namespace

Findings check_plan(const Value& pm) {
  FindingList findings("coordination");
  Tasks tasks;
  for (const Value& task : items_in(pm, "task_groups"))
    tasks.push_back(&task);
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
  if (mode != nullptr && mode->IsNull() && (!tasks.empty() || count_of(pm, "iteration") > 0))
    findings.error("S21", "/mode", "mode is null, but the project manager has already run");
  shared_files(pm, tasks, findings);
  return findings.take();
}

}  // namespace baton::coordination
