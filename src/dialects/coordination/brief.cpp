// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "dialects/coordination/decide.h"
#include "dialects/kinds.h"

namespace baton::coordination {
namespace {

constexpr std::int64_t kStrongAfter = 3;
constexpr std::int64_t kSummariseAfter = 10;
constexpr unsigned kLastDecisions = 3;

/// The messages nobody has read yet; if all are read, the newest.
std::string mail(const Snapshot& snapshot, std::size_t box, std::string_view group) {
  const auto all = messages(snapshot.view.docs, box, group);
  Json chosen = Json::array();
  for (const Message& message : all)
    if (!json::boolean(*message.value, "read").value_or(false))
      chosen.push(Json(*message.value));
  if (chosen->Empty() && !all.empty())
    chosen.push(Json(*all.back().value));
  return chosen->Empty() ? "" : chosen.pretty();
}

std::string tasks_of(const Value& pm, const Group& group) {
  if (group.task == nullptr)
    return {};
  const auto ids = texts_of(*group.task, "tasks");
  std::vector<std::string> tasks;
  for (const Value& task : items_in(pm, "all_tasks")) {
    const std::string id = text_of(task, "id");
    if (json::text(task, "group_id") == group.id ||
        std::find(ids.begin(), ids.end(), id) != ids.end())
      tasks.push_back(id + ": " + text_of(task, "description"));
  }
  return list_lines(tasks);
}

/// The groups that have a developer, and those that may get one at the same time.
void add_peers(const Snapshot& snapshot, const Group& group, Brief& brief) {
  std::vector<std::string> busy;
  std::vector<std::string> ready;
  // Those started in the same step are not among the runs yet.
  for (const Group& other : snapshot.plan.groups) {
    if (other.id == group.id || !snapshot.plan.planned(other))
      continue;
    const Run* const run = snapshot.live_worker(other.id);
    if (run != nullptr && run->key.role == kDeveloper)
      busy.push_back(other.id);
    else if (!snapshot.plan.simple && stage_of(snapshot, other) == "dev" &&
             snapshot.plan.waits_for(other).empty())
      ready.push_back(other.id);
  }
  brief.values["busy_groups"] = join(busy, ", ");
  brief.values["ready_groups"] = join(ready, ", ");
}

/// The first decisions matter less than the last ones.
void add_decisions(const Snapshot& snapshot, Brief& brief) {
  const Value& state = root(snapshot.view.docs, "orchestrator_state");
  const auto all = items_in(state, "decisions_log");
  const bool many = count_of(state, "iteration") > kSummariseAfter;
  const auto from = many && all.Size() > kLastDecisions ? all.Size() - kLastDecisions : 0;
  std::vector<std::string> lines;
  for (auto i = from; i < all.Size(); ++i)
    lines.push_back(std::to_string(count_of(all[i], "iteration")) + " " +
                    text_of(all[i], "decision") + ": " + text_of(all[i], "reasoning"));
  brief.values["decisions"] = list_lines(lines);
  brief.values["decisions_left_out"] = from > 0 ? std::to_string(from) : "";
}

/// What the project manager has not heard yet of a claim, and what is wrong with it now.
std::string refusals(const Snapshot& snapshot, const std::string& role) {
  std::vector<std::string> faults;
  if (role == kManager)
    faults = snapshot.memo.refusal;
  if ((completion_claimed(snapshot) && !snapshot.memo.used_up) || snapshot.memo.refused)
    for (std::string& fault : completion_faults(snapshot))
      if (std::find(faults.begin(), faults.end(), fault) == faults.end())
        faults.push_back(std::move(fault));
  return list_lines(faults);
}

/// What was written before and did not stay, so that nobody writes it once more.
std::string put_back(const Snapshot& snapshot, const Subject& subject) {
  std::vector<std::string> lines;
  for (const PutBack& back : snapshot.memo.put_back)
    if (back.concerns(subject))
      lines.push_back(snapshot.view.env.root + "/" + back.path + " " + back.pointer + ": " +
                      back.why);
  return list_lines(lines);
}

/// How often the review has asked for changes, by the group's own count or the feedback.
std::int64_t revisions(const Group& group) {
  if (group.entry == nullptr)
    return 0;
  const auto asked = static_cast<std::int64_t>(count_feedback(*group.entry, "changes_requested"));
  return std::max(asked, count_of(*group.entry, "revision_count"));
}

/// What the plan says success is: the original has no such member, plans have it all the same.
std::string success(const Value& pm) {
  const Value& given = member(pm, "success_criteria");
  if (given.IsNull() || given.IsString())
    return text_of(pm, "success_criteria");
  return pretty_text(&given);
}

void add_group(const Snapshot& snapshot, const Group& group, Brief& brief) {
  const Value& pm = root(snapshot.view.docs, "pm_state");
  brief.values.insert({{"mode", snapshot.plan.simple ? "simple" : "parallel"},
                       {"files", list_lines(group.files)},
                       {"success_criteria", success(pm)},
                       {"planned_group", pretty_text(group.task)},
                       {"tasks", tasks_of(pm, group)},
                       {"group_entry", pretty_text(group.entry)},
                       {"revisions", std::to_string(revisions(group))},
                       {"open_blockers", list_lines(open_blockers(group.entry))}});
  for (std::size_t box = 0; box < kMailboxes.size(); ++box)
    brief.values[std::string(kMailboxes.at(box).kind)] = mail(snapshot, box, group.id);
  add_peers(snapshot, group, brief);
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  const Snapshot snapshot(view);
  const Group* const group = snapshot.plan.find(desired.subject);
  const auto memo = snapshot.memo.groups.find(desired.subject);
  const bool strong =
      group != nullptr && desired.role == kTechLead && revisions(*group) >= kStrongAfter;
  Brief brief;
  brief.state_file =
      path_of(snapshot.options, desired.role == kManager ? "pm_state" : "group_status");
  brief.values = {
      {"group", group == nullptr ? "" : group->id},
      {"branch",
       group == nullptr || group->task == nullptr ? "" : text_of(*group->task, "branch_name")},
      {"tier", strong ? "strong" : "standard"}};
  for (const auto& [name, value] : brief.values)
    brief.env.emplace_back("COORDINATION_" + upper(name), value);
  if (group != nullptr)
    add_group(snapshot, *group, brief);
  add_decisions(snapshot, brief);
  brief.values.insert({{"folder", view.env.root + "/" + snapshot.options.path},
                       {"requirements", snapshot.plan.requirements},
                       {"plan", pretty_text(&root(view.docs, "pm_state"))},
                       {"groups", pretty_text(&root(view.docs, "group_status"))},
                       {"completion_word", snapshot.options.completion_word},
                       {"refusals", refusals(snapshot, desired.role)},
                       {"rejected", rejected_lines(view)},
                       {"put_back", put_back(snapshot, desired.subject)},
                       {"answer", memo == snapshot.memo.groups.end() ? "" : memo->second.answer}});
  return brief;
}

}  // namespace baton::coordination
