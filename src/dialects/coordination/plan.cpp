// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/plan.h"

#include <algorithm>
#include <limits>
#include <set>

namespace baton::coordination {
namespace {

std::int64_t counter(const Value& entry, std::string_view name) {
  // Not negative, so that differences do not overflow.
  return std::max<std::int64_t>(0, count_of(member(entry, "iterations"), name));
}

/// The phases of groups. A group that the plan puts into no phase comes after its latest
/// dependency.
class Phases {
 public:
  Phases(const Value& pm, Plan& plan) : plan_(plan) {
    for (const Value& phase : items_in(pm, "execution_phases")) {
      const auto number = json::integer(phase, "phase_number");
      if (!number)
        continue;
      for (const std::string& id : texts_of(phase, "group_ids"))
        phases_.emplace(id, *number);
      if (const auto count = json::integer(phase, "parallel_count"); count && *count > 0)
        plan.parallel_counts[*number] = *count;
    }
  }

  void settle() {
    if (phases_.empty())
      return;
    for (Group& group : plan_.groups)
      group.phase = phase(group.id);
  }

 private:
  std::int64_t phase(const std::string& id) {
    if (const auto found = phases_.find(id); found != phases_.end())
      return found->second;
    // The check refuses cycles; this only stops endless recursion.
    if (!visiting_.insert(id).second)
      return 1;
    std::int64_t latest = 0;
    if (const Group* const group = plan_.find(id))
      for (const std::string& other : group->depends_on)
        latest = std::max(latest, phase(other));
    visiting_.erase(id);
    const bool last = latest == std::numeric_limits<std::int64_t>::max();
    return phases_[id] = last ? latest : latest + 1;
  }

  Plan& plan_;
  std::map<std::string, std::int64_t> phases_;
  std::set<std::string> visiting_;
};

Group planned_group(const Value& task) {
  Group group;
  group.id = text_of(task, "id");
  group.task = &task;
  group.can_parallel = json::boolean(task, "can_parallel").value_or(true);
  group.depends_on = texts_of(task, "depends_on");
  group.files = texts_of(task, "files_affected");
  return group;
}

void add_entries(const Value& status, Plan& plan) {
  for (const auto& member : status.GetObject()) {
    const std::string id(json::name(member.name));
    if (is_metadata(id) || !member.value.IsObject())
      continue;
    auto at = std::find_if(plan.groups.begin(), plan.groups.end(),
                           [&](const Group& group) { return group.id == id; });
    if (at == plan.groups.end()) {
      plan.groups.emplace_back();
      at = plan.groups.end() - 1;
      at->id = id;
    }
    at->entry = &member.value;
    at->status =
        parse_status(word_of(member.value, "status").value_or("")).value_or(Status::pending);
    at->counters = Counters{counter(member.value, "developer"), counter(member.value, "qa"),
                            counter(member.value, "tech_lead")};
  }
}

}  // namespace

bool Plan::any_task() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const Group& g) { return g.task != nullptr; });
}

const Group* Plan::find(std::string_view id) const {
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.id == id; });
  return found == groups.end() ? nullptr : &*found;
}

bool Plan::planned(const Group& group) const {
  return group.task != nullptr || !any_task();
}

bool Plan::all_complete() const {
  return !groups.empty() && std::all_of(groups.begin(), groups.end(), [](const Group& group) {
    return group.status == Status::complete;
  });
}

std::int64_t Plan::present_phase() const {
  std::int64_t lowest = 0;
  bool any = false;
  for (const Group& group : groups) {
    if (group.status == Status::complete || !planned(group))
      continue;
    lowest = any ? std::min(lowest, group.phase) : group.phase;
    any = true;
  }
  return lowest;
}

std::string Plan::waits_for(const Group& group) const {
  // A missing dependency counts as not complete.
  for (const std::string& id : group.depends_on) {
    const Group* const other = find(id);
    if (other == nullptr || other->status != Status::complete)
      return "it depends on " + id + ", which is " +
             (other == nullptr ? "unknown" : std::string(word(other->status)));
  }
  for (const Group& other : groups)
    if (planned(other) && other.phase < group.phase && other.status != Status::complete)
      return "phase " + std::to_string(group.phase) + " has not begun: " + other.id + " of phase " +
             std::to_string(other.phase) + " is " + std::string(word(other.status));
  return {};
}

std::uint64_t count_feedback(const Value& entry, std::string_view decision) {
  const auto all = items_in(entry, "tech_lead_feedback");
  return static_cast<std::uint64_t>(std::count_if(
      all.begin(), all.end(),
      [&](const Value& feedback) { return word_of(feedback, "decision") == decision; }));
}

std::uint64_t count_decisions(const FlowState& docs, const Group& group,
                              std::string_view decision) {
  std::uint64_t count = group.entry == nullptr ? 0 : count_feedback(*group.entry, decision);
  for (const Message& message : messages(docs, *mailbox("techlead_to_dev"), group.id))
    count += word_of(*message.value, "decision") == decision ? 1U : 0U;
  return count;
}

std::vector<std::string> open_blockers(const Value* entry) {
  std::vector<std::string> open;
  if (entry != nullptr)
    for (const Value& blocker : items_in(*entry, "blockers"))
      if (!flag_of(blocker, "resolved"))
        open.push_back(text_of(blocker, "description"));
  return open;
}

Plan plan_of(const FlowState& docs) {
  Plan plan;
  const Value& pm = root(docs, "pm_state");
  plan.known = pm.IsObject();
  const auto mode = json::text(pm, "mode");
  plan.decided = mode.has_value();
  plan.simple = mode == "simple";
  plan.requirements = text_of(pm, "original_requirements");
  for (const Value& task : items_in(pm, "task_groups"))
    if (Group group = planned_group(task); plan.find(group.id) == nullptr)
      plan.groups.push_back(std::move(group));
  if (const Value& status = root(docs, "group_status"); status.IsObject())
    add_entries(status, plan);
  for (Group& group : plan.groups)
    group.approved = count_decisions(docs, group, "approved") > 0;
  Phases(pm, plan).settle();
  std::stable_sort(plan.groups.begin(), plan.groups.end(),
                   [](const Group& a, const Group& b) { return a.phase < b.phase; });
  return plan;
}

}  // namespace baton::coordination
