// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <set>

#include "base/digest.h"
#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

constexpr std::size_t kHistory = 32;
constexpr std::size_t kDigits = 16;

/// The status of a group while a run works on it; nothing: unchanged.
std::optional<Status> working_status(const Run& run) {
  if (run.key.role == kDeveloper)
    return Status::dev_working;
  if (run.key.role == kQa)
    return Status::qa_testing;
  if (run.key.role == kTechLead && run.purpose == "review")
    return Status::tech_review;
  return std::nullopt;
}

/// Whether a run counts as a round of work. Continuing, unblocking and explaining do not.
bool counts(const Run& run) {
  if (run.key.role == kTechLead)
    return run.purpose == "review";
  return run.key.role != kManager && run.purpose != "continue";
}

/// A counter of a group. Limited, because an agent may write any number, and adding one must not
/// overflow.
std::int64_t count_in(const Group& group, std::string_view name) {
  const std::int64_t count =
      group.entry == nullptr ? 0 : count_of(member(*group.entry, "iterations"), name);
  return std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::int64_t>::max() - 1);
}

void count(const Snapshot& snapshot, const Group& group, std::string_view name, std::int64_t by,
           Writes& writes) {
  Json counters = Json::object({{"developer", 0}, {"qa", 0}, {"tech_lead", 0}});
  if (group.entry != nullptr)
    for (const auto& member : members_in(*group.entry, "iterations"))
      counters.set(json::name(member.name), member.value);
  counters.set(name, Json(std::max<std::int64_t>(0, count_in(group, name) + by)));
  writes.set(snapshot, group, {{"iterations", counters}});
}

/// Resolves the blocker that baton wrote, when the developer continues.
void resolve_own(const Snapshot& snapshot, const Group& group, Writes& writes) {
  const auto memo = snapshot.memo.groups.find(group.id);
  if (group.entry == nullptr || memo == snapshot.memo.groups.end() || memo->second.blocker.empty())
    return;
  Json blockers = Json::array();
  for (const Value& blocker : items_in(*group.entry, "blockers")) {
    Json entry(blocker);
    if (text_of(blocker, "description") == memo->second.blocker && !flag_of(blocker, "resolved")) {
      entry.set("resolved", true);
      entry.set("resolution", "unblocked");
    }
    blockers.push(entry);
  }
  writes.set(snapshot, group, {{"blockers", blockers}});
}

void begin(const Snapshot& snapshot, const Group& group, const Run& run, RunMemo& memo,
           Writes& writes) {
  if (run.purpose == "continue_with_solution")
    resolve_own(snapshot, group, writes);
  std::vector<std::pair<std::string_view, Json>> members;
  if (const auto status = working_status(run))
    members.emplace_back("status", word(*status));
  if (run.key.role != kManager)
    members.emplace_back("current_agent", Json(run.key.role));
  const bool begun = group.entry != nullptr && json::text(*group.entry, "start_time").has_value();
  if (!begun)
    members.emplace_back("start_time", iso_time(snapshot.view.wall));
  writes.set(snapshot, group, members);
  writes.add_reason(run.key.role + " begins with " + group.id);
  if (const RoleRow* const row = row_of(kWorkers, run.key.role); row != nullptr && counts(run)) {
    count(snapshot, group, row->counter, 1, writes);
    memo.group = true;
  }
}

std::string manager_decision(const Run& run) {
  if (run.key.subject != kSession)
    return "spawn_pm_stuck_group_" + run.key.subject;
  if (run.purpose == "final_check")
    return "spawn_pm_final_check";
  if (run.purpose == "phase_completion")
    return "spawn_pm_phase_check";
  return "spawn_pm_for_planning";
}

/// Logs the starts. Several developers that start at once become one entry with the first number.
void log(Snapshot& snapshot, const std::vector<const Run*>& started, Writes& writes) {
  const auto developers = static_cast<std::size_t>(std::count_if(
      started.begin(), started.end(), [](const Run* run) { return run->key.role == kDeveloper; }));
  bool logged = false;
  for (const Run* const run : started) {
    LogEntry entry{++snapshot.memo.spawns, "", run->why};
    if (run->key.role == kManager)
      entry.decision = manager_decision(*run);
    else if (run->key.role == kDeveloper && developers > 1)
      entry.decision = "spawn_" + std::to_string(developers) + "_developers_parallel";
    else
      entry.decision = "spawn_" + run->key.role + "_group_" + run->key.subject;
    if (run->key.role == kDeveloper && developers > 1 && std::exchange(logged, true))
      continue;
    writes.log.push_back(std::move(entry));
  }
}

/// Takes a start out of the counters that never ran, or whose agent could not work because of its
/// provider.
void undo_start(Snapshot& snapshot, const Run& run, Writes& writes) {
  RunMemo& memo = snapshot.memo.runs[run.id];
  const Group* const group = snapshot.plan.find(run.key.subject);
  if (memo.counted && snapshot.memo.spawns > 0)
    writes.log.push_back(
        LogEntry{--snapshot.memo.spawns, "undo_spawn",
                 "the start of the " + run.key.role + " for " + run.key.subject +
                     (says_nothing(run.outcome) ? " is taken back" : " did not run")});
  if (const RoleRow* const row = row_of(kWorkers, run.key.role);
      memo.group && row != nullptr && group != nullptr)
    count(snapshot, *group, row->counter, -1, writes);
  memo.counted = memo.group = false;
}

/// Notes that new runs know what baton has put back. It is settled when one of these runs succeeds.
void note_informed(Snapshot& snapshot, const std::set<RunId>& first_seen) {
  for (PutBack& back : snapshot.memo.put_back)
    for (const Run& run : snapshot.view.runs)
      if (first_seen.contains(run.id) && back.concerns(run.key.subject))
        back.informed.insert(run.id);
  std::erase_if(snapshot.memo.put_back, [&](const PutBack& back) {
    return std::any_of(snapshot.view.runs.begin(), snapshot.view.runs.end(), [&](const Run& run) {
      return run.outcome == Outcome::succeeded && back.informed.contains(run.id);
    });
  });
}

/// Notes that new runs of the project manager know of a refused completion. It is settled when one
/// of these runs succeeds.
void note_refusal_informed(Snapshot& snapshot, const std::set<RunId>& first_seen) {
  Memo& memo = snapshot.memo;
  bool answered = false;
  for (const Run& run : snapshot.view.runs) {
    if (run.key.role != kManager || memo.refusal.empty())
      continue;
    if (first_seen.contains(run.id))
      memo.refusal_informed.insert(run.id);
    answered =
        answered || (run.outcome == Outcome::succeeded && memo.refusal_informed.contains(run.id));
  }
  if (!answered)
    return;
  memo.refusal.clear();
  memo.refusal_informed.clear();
}

void enter(Snapshot& snapshot, const Run& run, Writes& writes) {
  RunMemo& memo = snapshot.memo.runs[run.id];
  memo.counted = true;
  memo.started_ms = run.started.time_since_epoch().count();
  memo.mail = snapshot.memo.groups[run.key.subject].mail;
  // In a reopened session final_pm stays as it is. So an old claim, which an agent wrote after an
  // earlier final check began, counts again.
  if (run.purpose == "final_check" && !snapshot.memo.used_up)
    if (const Accepted* const pm = find(snapshot.view.docs, "pm_state"))
      snapshot.memo.final_pm = hex(pm->document->digest());
  const Group* const group = snapshot.plan.find(run.key.subject);
  if (group != nullptr && run.live() && run.key.generation == snapshot.generation(run.key.subject))
    begin(snapshot, *group, run, memo, writes);
}

/// Appends the value with sorted members, so that a copy in another order has the same digest.
void canonical(const Value& value, std::string& text) {
  if (value.IsObject()) {
    std::vector<const Value::Member*> members;
    for (const auto& member : value.GetObject())
      members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
      return json::name(a->name) < json::name(b->name);
    });
    text += '{';
    for (const auto* const member : members) {
      text += json::dump(member->name);
      text += ':';
      canonical(member->value, text);
      text += ',';
    }
    text += '}';
  } else if (value.IsArray()) {
    text += '[';
    for (const Value& item : value.GetArray()) {
      canonical(item, text);
      text += ',';
    }
    text += ']';
  } else {
    text += json::dump(value);
  }
}

bool helps(const Run& run) {
  return run.key.role == kManager ||
         (run.key.role == kTechLead &&
          (run.purpose == "explain_tests" || run.purpose == "qa_blocked"));
}

}  // namespace

std::string entry_digest(const Value& entry) {
  std::string text;
  canonical(entry, text);
  return hex(digest_of(text)).substr(0, kDigits);
}

void note_starts(Snapshot& snapshot, Writes& writes) {
  if (snapshot.memo.fresh)
    snapshot.memo.spawns = static_cast<std::uint64_t>(std::max<std::int64_t>(
        0, count_of(root(snapshot.view.docs, "orchestrator_state"), "total_spawns")));
  std::set<RunId> there;
  std::vector<const Run*> started;
  std::set<RunId> fresh;
  for (const Run& run : snapshot.view.runs) {
    if (snapshot.forgotten(run))
      continue;
    there.insert(run.id);
    const bool first_seen = !snapshot.memo.runs.contains(run.id);
    if (run.outcome == Outcome::voided || says_nothing(run.outcome)) {
      undo_start(snapshot, run, writes);
    } else if (first_seen) {
      enter(snapshot, run, writes);
      started.push_back(&run);
      fresh.insert(run.id);
    }
  }
  note_informed(snapshot, fresh);
  note_refusal_informed(snapshot, fresh);
  std::erase_if(snapshot.memo.runs, [&](const auto& row) {
    if (there.contains(row.first))
      return false;
    snapshot.memo.forgotten_ms = std::max(snapshot.memo.forgotten_ms, row.second.started_ms);
    return true;
  });
  // Developers of one step get consecutive numbers.
  std::stable_sort(started.begin(), started.end(), [](const Run* a, const Run* b) {
    return (a->key.role == kDeveloper) > (b->key.role == kDeveloper);
  });
  log(snapshot, started, writes);
  if (!started.empty())
    if (const RoleRow* const row = row_of(kWorkers, started.back()->key.role))
      snapshot.memo.last_phase = row->phase;
}

void note_ends(Snapshot& snapshot) {
  Arrival newest = 0;
  for (const auto& [path, accepted] : snapshot.view.docs)
    newest = std::max(newest, accepted.arrival);
  for (const Run& run : snapshot.view.runs) {
    if (snapshot.forgotten(run))
      continue;
    RunMemo& memo = snapshot.memo.runs[run.id];
    if (!run.live() && !memo.over)
      memo.arrival = newest;
    memo.over = !run.live();
  }
}

void reset_counts(Snapshot& snapshot, const Subject& subject) {
  GroupMemo& memo = snapshot.memo.groups[subject];
  const std::uint64_t generation = snapshot.generation(subject);
  std::map<std::string, std::uint32_t> base;
  for (const std::string_view role : {kDeveloper, kQa, kTechLead, kManager}) {
    const Job job = snapshot.job(role, subject);
    base[std::string(role)] = job.turn + (job.exhausted ? 1U : 0U);
  }
  memo.turn_generation = generation;
  memo.turn_base = std::move(base);
}

void note_help(Snapshot& snapshot) {
  for (const Run& run : snapshot.view.runs) {
    const Group* const group = snapshot.plan.find(run.key.subject);
    if (group == nullptr || !helps(run) || run.outcome != Outcome::succeeded)
      continue;
    GroupMemo& memo = snapshot.memo.groups[group->id];
    if (run.forgiven) {
      memo.helped.erase(run.id);
      std::erase(memo.interventions, run.id);
      continue;
    }
    if (!memo.helped.insert(run.id).second)
      continue;
    if (run.key.role == kManager) {
      memo.interventions.push_back(run.id);
      memo.base_developer = group->counters.developer;
      memo.base_tech_lead = group->counters.tech_lead;
    }
    if (run.key.role == kManager || run.purpose == "explain_tests")
      memo.base_qa = group->counters.qa;
    if (run.key.generation == snapshot.generation(group->id))
      reset_counts(snapshot, group->id);
  }
}

void note_documents(Snapshot& snapshot) {
  for (const Group& group : snapshot.plan.groups) {
    GroupMemo& memo = snapshot.memo.groups[group.id];
    memo.mail = mail_count(snapshot.view.docs, group.id);
    if (group.status != Status::dev_blocked) {
      memo.unblocks = count_decisions(snapshot.view.docs, group, "unblocked");
      memo.block.clear();
      memo.blocker.clear();
    }
    if (group.entry == nullptr)
      continue;
    std::string digest = entry_digest(*group.entry);
    if (!memo.history.empty() && memo.history.back() == digest)
      continue;
    memo.history.push_back(std::move(digest));
    if (memo.history.size() > kHistory)
      memo.history.erase(memo.history.begin());
    memo.changed_ms = snapshot.view.now.time_since_epoch().count();
  }
}

void Writes::set(const Snapshot& snapshot, const Group& group,
                 const std::vector<std::pair<std::string_view, Json>>& members) {
  const std::string pointer = "/" + json::pointer_token(group.id);
  touched_.insert(group.id);
  const bool created = std::find(created_.begin(), created_.end(), group.id) != created_.end();
  if (group.entry == nullptr && !created) {
    Json entry = Json::object({{"group_id", group.id}});
    if (group.task != nullptr) {
      if (const auto name = json::text(*group.task, "name"))
        entry.set("group_name", Json(*name));
      if (const auto branch = json::text(*group.task, "branch_name"))
        entry.set("branch_name", Json(*branch));
    }
    entry.set("status", word(group.status));
    group_edits_.push_back(json::Edit{pointer, entry.dump()});
    created_.push_back(group.id);
  }
  for (const auto& [name, value] : members)
    group_edits_.push_back(json::Edit{pointer + "/" + std::string(name), value.dump()});
  group_edits_.push_back(
      json::Edit{pointer + "/last_update", json::quote(iso_time(snapshot.view.wall))});
}

void Writes::put(const std::string& id, const Json& entry) {
  touched_.insert(id);
  group_edits_.push_back(
      json::Edit{"/" + json::pointer_token(id), entry.is_null() ? "" : entry.dump()});
}

void Writes::add_reason(const std::string& reason) {
  why += (why.empty() ? "" : "; ") + reason;
}

std::vector<Update> Writes::updates(const Snapshot& snapshot) const {
  if (group_edits_.empty())
    return {};
  const std::string path = path_of(snapshot.options, "group_status");
  const Accepted* const file = find(snapshot.view.docs, "group_status");
  if (file == nullptr) {
    auto text = json::splice("{}\n", group_edits_);
    return text ? std::vector<Update>{Create{path, *text, why}} : std::vector<Update>{};
  }
  // The file is missing and the flow starts nothing, so nothing can be written.
  if (!file->present)
    return {};
  return {SetMembers{path, file->document->digest(), group_edits_, why}};
}

}  // namespace baton::coordination
