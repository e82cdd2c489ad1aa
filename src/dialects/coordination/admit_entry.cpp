// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "dialects/coordination/admit.h"
#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

/// Counters never decrease. If the new value is smaller, it comes from an old copy, and the larger
/// one stays.
void keep_counters(const Value& before, const Value& after, Json& entry) {
  Json counters(member(after, "iterations"));
  for (const auto& counter : members_in(before, "iterations")) {
    const std::string_view name = json::name(counter.name);
    const auto had = json::integer(counter.value);
    const auto has = json::integer(*counters, name);
    if (had && (!has || *has < *had))
      entry.set("iterations", counters.set(name, Json(*had)));
  }
}

using Same = std::function<bool(const Value&, const Value&)>;

/// Puts lost items of a list back, in front of the other items.
void keep_items(const Value& before, const Value& after, std::string_view name, const Same& same,
                Json& entry) {
  const auto given = items_in(after, name);
  Json all = Json::array();
  for (const Value& old : items_in(before, name))
    if (std::none_of(given.begin(), given.end(),
                     [&](const Value& item) { return same(old, item); }))
      all.push(Json(old));
  if (all->Empty())
    return;
  for (const Value& item : given)
    all.push(Json(item));
  entry.set(name, all);
}

bool same_feedback(const Value& a, const Value& b) {
  return json::integer(a, "iteration") == json::integer(b, "iteration") &&
         json::text(a, "timestamp") == json::text(b, "timestamp") &&
         word_of(a, "decision") == word_of(b, "decision");
}

bool same_blocker(const Value& a, const Value& b) {
  return json::text(a, "description") == json::text(b, "description");
}

Json completed(const Value& before, const Value& after) {
  Json entry(after);
  keep_counters(before, after, entry);
  keep_items(before, after, "commits", json::equal, entry);
  keep_items(before, after, "files_modified", json::equal, entry);
  keep_items(before, after, "tech_lead_feedback", same_feedback, entry);
  // An agent may reword a blocker, so baton restores blockers only if the list got shorter.
  if (items_in(after, "blockers").Size() < items_in(before, "blockers").Size())
    keep_items(before, after, "blockers", same_blocker, entry);
  for (const std::string_view name : {"start_time", "branch_name", "group_name"})
    if (const Value& had = member(before, name); !had.IsNull() && member(after, name).IsNull())
      entry.set(name, had);
  return entry;
}

/// baton counts the rounds itself, but agents of the origin increment the counters too. baton
/// accepts a jump and tells the next agents about it.
void note_jumps(const std::string& id, const Value& before, const Value& after,
                std::vector<EntryFault>& faults) {
  const auto counter = [](const Value& entry, std::string_view name) {
    return std::max<std::int64_t>(0, count_of(member(entry, "iterations"), name));
  };
  for (const std::string_view name : {"developer", "qa", "tech_lead"}) {
    const std::int64_t has = counter(after, name);
    const std::int64_t had = counter(before, name);
    if (has > had && has - had > 1)
      faults.push_back({"T8", "/iterations/" + std::string(name),
                        "the counter " + std::string(name) + " of " + id + " jumped from " +
                            std::to_string(had) + " to " + std::to_string(has) +
                            "; it is accepted, and escalation uses it"});
  }
}

bool reviews(const Run& run, const Subject& group) {
  return run.key.subject == group && run.key.role == kTechLead && run.purpose == "review";
}

/// The entry without new feedback that its writer may not give. Only a review may approve. Only a
/// tech lead of the group may give other feedback.
Json without_unauthorized(const Snapshot& snapshot, const std::string& id, const Value* before,
                          const Value& after, std::vector<EntryFault>& faults) {
  Json entry(after);
  const bool approves = may_approve(snapshot, id);
  const bool speaks = may_report(snapshot, kTechLead, id);
  if (approves && speaks)
    return entry;
  const auto known =
      items_in(before == nullptr ? nullptr : json::child(*before, "tech_lead_feedback"));
  const auto unauthorized = [&](const Value& feedback) {
    return !(word_of(feedback, "decision") == "approved" ? approves : speaks) &&
           std::none_of(known.begin(), known.end(),
                        [&](const Value& old) { return same_feedback(old, feedback); });
  };
  Json kept = Json::array();
  bool approved = false;
  std::string_view claimed;
  for (const Value& item : items_in(after, "tech_lead_feedback"))
    if (!unauthorized(item)) {
      kept.push(Json(item));
    } else {
      claimed = word_of(item, "decision").value_or("feedback");
      approved = approved || claimed == "approved";
    }
  if (claimed.empty())
    return entry;
  // If the entry had no such member before, baton does not leave an empty one.
  if (kept->Empty() && (before == nullptr || json::child(*before, "tech_lead_feedback") == nullptr))
    entry.erase("tech_lead_feedback");
  else
    entry.set("tech_lead_feedback", kept);
  faults.push_back({"T2", "/tech_lead_feedback",
                    approved ? id + " was approved without permission; " +
                                   who_may_approve(snapshot.view.flow, id)
                             : id + " was said to be " + std::string(claimed) +
                                   " without permission; " + who_may_report(kTechLead, id)});
  return entry;
}

EntryVerdict stale(const Value* before, std::string why) {
  return {
      EntryVerdict::Kind::stale, before == nullptr ? Json() : Json(*before), std::move(why), {}};
}

EntryVerdict refused(const Value* before, std::string why) {
  return {EntryVerdict::Kind::refused,
          before == nullptr ? Json() : Json(*before),
          "",
          {{"T1", "/status", std::move(why)}}};
}

}  // namespace

bool may_approve(const Snapshot& snapshot, const Subject& group) {
  return !snapshot.written_by([](const Run&) { return true; }) ||
         snapshot.written_by([&](const Run& run) { return reviews(run, group); });
}

std::string who_may_approve(const FlowId& flow, const Subject& group) {
  return "only the tech lead that reviews " + group + " may approve, or a person: `baton approve " +
         text(flow) + " " + group + "`";
}

bool may_report(const Snapshot& snapshot, std::string_view role, const Subject& group) {
  return !snapshot.written_by([](const Run&) { return true; }) ||
         snapshot.written_by(
             [&](const Run& run) { return run.key.subject == group && run.key.role == role; });
}

std::string who_may_report(std::string_view role, const Subject& group) {
  return "only the running " + std::string(role) + " of " + group + " may say that";
}

EntryVerdict judge_entry(const Snapshot& snapshot, const std::string& id, const Value* before,
                         const Value* after, Origin origin) {
  using Kind = EntryVerdict::Kind;
  const bool manager = snapshot.written_by([](const Run& run) { return run.key.role == kManager; });
  if (after == nullptr) {
    // The project manager may remove a group that is not in the plan. So may a person while no
    // agent runs. Any other removal is an old copy or a mistake.
    const Group* const group = snapshot.plan.find(id);
    const bool dropped = group == nullptr || !snapshot.plan.planned(*group);
    const bool may = manager || !snapshot.written_by([](const Run&) { return true; });
    if (before == nullptr || (may && dropped && snapshot.live_worker(id) == nullptr))
      return {};
    return stale(before, id + " was missing");
  }
  std::vector<EntryFault> faults;
  const Json entry = without_unauthorized(snapshot, id, before, *after, faults);
  if (before != nullptr && json::equal(*before, *entry))
    return {Kind::taken, entry, "", std::move(faults)};
  if (const auto memo = snapshot.memo.groups.find(id);
      memo != snapshot.memo.groups.end() && origin == Origin::shared_file) {
    const auto& history = memo->second.history;
    if (std::find(history.begin(), history.end(), entry_digest(*entry)) != history.end())
      return stale(before, id + " was an old copy");
  }
  const Status from =
      before == nullptr
          ? Status::pending
          : parse_status(word_of(*before, "status").value_or("")).value_or(Status::pending);
  const Status to = parse_status(word_of(*entry, "status").value_or("")).value_or(from);
  const std::string move =
      id + " may not go from " + std::string(word(from)) + " to " + std::string(word(to));
  if (!legal_move(from, to) && !(to == Status::pending && manager))
    return refused(before, move);
  if (to == Status::complete && from != Status::complete && !may_approve(snapshot, id))
    return refused(before,
                   move + ": it is not approved; " + who_may_approve(snapshot.view.flow, id));
  EntryVerdict verdict{Kind::taken, entry, "", std::move(faults)};
  if (before == nullptr)
    return verdict;
  verdict.entry = completed(*before, *entry);
  if (!(verdict.entry == entry))
    verdict.faults.push_back({"T4", "", id + " lost counters or list entries"});
  note_jumps(id, *before, *entry, verdict.faults);
  return verdict;
}

}  // namespace baton::coordination
