#include <algorithm>

#include "base/text.h"
#include "dialects/coordination/routing.h"
#include "dialects/coordination/session.h"
#include "dialects/kinds.h"

// The values for the prompts below schemas/coordination/prompts.

namespace baton::coordination {
namespace {

constexpr std::int64_t kStrongAfter = 3;
constexpr std::int64_t kSummariseAfter = 10;
constexpr std::size_t kLastDecisions = 3;

/// The messages nobody has read yet; if all are read, the newest.
std::string mail(const Scene& scene, std::size_t box, std::string_view group) {
  const auto all = messages(scene.view.docs, box, group);
  Json chosen = Json::array();
  for (const Message& message : all)
    if (!json::boolean(*message.value, "read").value_or(false))
      chosen.push(Json(*message.value));
  if (chosen->Empty() && !all.empty())
    chosen.push(Json(*all.back().value));
  return chosen->Empty() ? "" : chosen.pretty();
}

std::string tasks_of(const Scene& scene, const Group& group) {
  const Value* const pm = root(scene.view.docs, "pm_state");
  if (pm == nullptr || group.task == nullptr)
    return {};
  const auto ids = texts(*group.task, "tasks");
  std::string text;
  for (const Value* const task : items(*pm, "all_tasks")) {
    const std::string id = text_of(*task, "id");
    if (json::text(*task, "group_id") == group.id ||
        std::find(ids.begin(), ids.end(), id) != ids.end())
      text += "- " + id + ": " + text_of(*task, "description") + "\n";
  }
  return text;
}

/// The groups that have a developer, and those that may get one at the same time.
void add_peers(const Scene& scene, const Group& group, Brief& brief) {
  std::vector<std::string> busy;
  std::vector<std::string> ready;
  // Those started in the same step are not among the runs yet.
  for (const Group& other : scene.plan.groups) {
    if (other.id == group.id || !scene.plan.planned(other))
      continue;
    const Run* const run = scene.live_worker(other.id);
    if (run != nullptr && run->key.role == kDeveloper)
      busy.push_back(other.id);
    else if (!scene.plan.simple && stage_of(scene, other) == "dev" &&
             scene.plan.waits_for(other).empty())
      ready.push_back(other.id);
  }
  brief.parts["mode"] = scene.plan.simple ? "simple" : "parallel";
  brief.parts["busy_groups"] = join(busy, ", ");
  brief.parts["ready_groups"] = join(ready, ", ");
  brief.parts["files"] = list_lines(group.files);
}

/// The first decisions matter less than the last ones.
void add_decisions(const Scene& scene, Brief& brief) {
  const Value* const state = root(scene.view.docs, "orchestrator_state");
  if (state == nullptr)
    return;
  const auto all = items(*state, "decisions_log");
  const bool many = json::integer(*state, "iteration").value_or(0) > kSummariseAfter;
  const std::size_t from = many && all.size() > kLastDecisions ? all.size() - kLastDecisions : 0;
  if (from > 0)
    brief.parts["decisions_left_out"] = std::to_string(from);
  for (std::size_t i = from; i < all.size(); ++i)
    brief.parts["decisions"] += "- " + std::to_string(count_of(*all[i], "iteration")) + " " +
                                text_of(*all[i], "decision") + ": " +
                                text_of(*all[i], "reasoning") + "\n";
}

/// What the project manager has not heard yet of a claim, and what is wrong with it now.
std::string refusals(const Scene& scene, const std::string& role) {
  std::vector<std::string> faults;
  if (role == kManager)
    faults = scene.memo.refusal;
  if ((completion_claimed(scene) && !scene.memo.used_up) || scene.memo.refused)
    for (std::string& fault : completion_faults(scene))
      if (std::find(faults.begin(), faults.end(), fault) == faults.end())
        faults.push_back(std::move(fault));
  return list_lines(faults);
}

/// What was written before and did not stay, so that nobody writes it once more.
std::string put_back(const Scene& scene, const Subject& subject) {
  std::string text;
  for (const PutBack& back : scene.memo.put_back)
    if (back.concerns(subject))
      text += "- " + scene.view.env.root + "/" + back.path + " " + back.pointer + ": " + back.why +
              "\n";
  return text;
}

/// How often the review has asked for changes, by the group's own count or the feedback.
std::int64_t revisions(const Group& group) {
  if (group.entry == nullptr)
    return 0;
  std::int64_t asked = 0;
  for (const Value* const feedback : items(*group.entry, "tech_lead_feedback"))
    asked += word_of(*feedback, "decision") == "changes_requested" ? 1 : 0;
  return std::max(asked, count_of(*group.entry, "revision_count"));
}

/// What the plan says success is: the original has no such member, plans have it all the same.
std::string success(const Value* pm) {
  const Value* const given = pm == nullptr ? nullptr : json::child(*pm, "success_criteria");
  if (given == nullptr || given->IsNull())
    return {};
  return given->IsString() ? text_of(*pm, "success_criteria")
                           : "```json\n" + pretty_text(given) + "```\n";
}

void add_group(const Scene& scene, const Group& group, Brief& brief) {
  add_peers(scene, group, brief);
  brief.parts["success_criteria"] = success(root(scene.view.docs, "pm_state"));
  brief.parts["planned_group"] = pretty_text(group.task);
  brief.parts["tasks"] = tasks_of(scene, group);
  brief.parts["group_entry"] = pretty_text(group.entry);
  brief.parts["revisions"] = std::to_string(revisions(group));
  brief.parts["open_blockers"] = list_lines(open_blockers(group));
  for (std::size_t box = 0; box < kMailboxes.size(); ++box)
    brief.parts[std::string(kMailboxes.at(box).kind)] = mail(scene, box, group.id);
}

std::string tier(const Group& group, const Desired& desired) {
  const bool strong = desired.role == kTechLead && revisions(group) >= kStrongAfter;
  return strong ? "strong" : "standard";
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  const Scene scene(view);
  const Group* const group = scene.plan.find(desired.subject);
  const auto memo = scene.memo.groups.find(desired.subject);
  Brief brief;
  brief.state_file = path_of(scene.options, desired.role == kManager ? "pm_state" : "group_status");
  if (group != nullptr)
    add_group(scene, *group, brief);
  brief.parts["folder"] = view.env.root + "/" + scene.options.path;
  brief.parts["requirements"] = scene.plan.requirements;
  brief.parts["plan"] = pretty_text(root(view.docs, "pm_state"));
  brief.parts["groups"] = pretty_text(root(view.docs, "group_status"));
  add_decisions(scene, brief);
  brief.parts["completion_word"] = scene.options.completion_word;
  brief.parts["refusals"] = refusals(scene, desired.role);
  brief.parts["rejected"] = rejected_lines(view);
  brief.parts["put_back"] = put_back(scene, desired.subject);
  brief.parts["answer"] = memo == scene.memo.groups.end() ? "" : memo->second.answer;
  brief.values["group"] = group == nullptr ? "" : group->id;
  brief.values["branch"] =
      group == nullptr || group->task == nullptr ? "" : text_of(*group->task, "branch_name");
  brief.values["tier"] = group == nullptr ? "standard" : tier(*group, desired);
  brief.env = {{"COORDINATION_GROUP", brief.values["group"]},
               {"COORDINATION_BRANCH", brief.values["branch"]},
               {"COORDINATION_TIER", brief.values["tier"]}};
  return brief;
}

}  // namespace baton::coordination
