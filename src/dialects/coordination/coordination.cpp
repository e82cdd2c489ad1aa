// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/coordination.h"

#include <algorithm>
#include <array>

#include "dialects/coordination/admit.h"
#include "dialects/coordination/decide.h"
#include "dialects/dialects.h"

namespace baton {
namespace coordination {
namespace {

constexpr Millis kLinger{60'000};

Stages stages(const View& view) {
  const Snapshot snapshot(view);
  Stages stages;
  for (const Group& group : snapshot.plan.groups)
    stages[group.id] = stage_of(snapshot, group);
  if (const SessionStage stage = session_stage(snapshot); stage != SessionStage::none)
    stages[Subject(kSession)] = word(stage);
  return stages;
}

/// The status of the session, and the stages of its groups and of itself.
std::vector<Word> words(const FlowId& /*flow*/, const Json& /*options*/) {
  std::vector<Word> all = {"running", "completed", "error"};
  const auto add = [&](std::string_view word) {
    if (!word.empty() && std::find(all.begin(), all.end(), word) == all.end())
      all.emplace_back(word);
  };
  for (const StatusRow& row : kStatuses)
    add(row.stage);
  for (int i = 0; i <= static_cast<int>(SessionStage::completed); ++i)
    add(word(static_cast<SessionStage>(i)));
  return all;
}

/// Ends agents that still run after their work is done, and agents whose group does not move
/// (format page, Stalls).
void release(const Snapshot& snapshot, Decision& decision) {
  decision.releases.push_back(
      Release{"", "", false, kLinger, "the work is done but the agent still runs"});
  if (snapshot.options.stall == Millis(0))
    return;
  for (const Run& run : snapshot.view.runs) {
    const auto group = snapshot.memo.groups.find(run.key.subject);
    const auto stage = snapshot.view.stages.find(run.key.subject);
    if (!run.live() || group == snapshot.memo.groups.end() || stage == snapshot.view.stages.end())
      continue;
    const Time moved = std::max(run.started, Time(Millis(group->second.changed_ms)));
    const Time due = moved + snapshot.options.stall;
    const std::string why = std::string(kStalled) + ": " + run.key.subject +
                            " has not changed since " + iso_time(moved);
    if (snapshot.view.now >= due)
      decision.notices.push_back(Notice{"stalled", run.key.subject, why});
    else
      decision.wake = std::min(decision.wake.value_or(due), due);
    const Time since = std::max(stage->second.since, run.started);
    decision.releases.push_back(
        Release{run.key.role, run.key.subject, true, due + kLinger - since, why});
  }
}

/// Reports what baton has put back or doubts, until an agent has dealt with it.
void report_put_back(const Snapshot& snapshot, Decision& decision) {
  Json all = Json::array();
  for (const PutBack& back : snapshot.memo.put_back) {
    all.push(Json::object({{"path", back.path},
                           {"pointer", back.pointer},
                           {"why", back.why},
                           {"stays", back.stays}}));
    // The history already shows what baton has put back.
    if (back.stays)
      decision.notices.push_back(
          Notice{"doubted", back.subject, back.path + "#" + back.pointer + ": " + back.why});
  }
  if (!all->Empty())
    decision.details = Json::object({{"put_back", all}});
}

/// baton enters each start in orchestrator_state, and the start of a group's agent also in
/// group_status. It does not write over a rejected file, so it holds these starts meanwhile.
void hold_rejected(const Snapshot& snapshot, Decision& decision) {
  for (const std::string_view kind : {"orchestrator_state", "group_status"}) {
    const Accepted* const file = find(snapshot.view.docs, kind);
    if (file == nullptr || file->rejected.empty())
      continue;
    std::erase_if(decision.desired, [&](const Desired& wanted) {
      if (kind == "group_status" && wanted.subject == kSession)
        return false;
      const std::string path = path_of(snapshot.options, kind);
      decision.holds.push_back(
          Hold{wanted.role, wanted.subject, cause_of(Situation::rejected),
               path + " was rejected (" + first_error(path, file->rejected) + ")",
               correction(snapshot, path)});
      return true;
    });
  }
}

/// Holds a session that has started too many agents.
void apply_spawn_limit(const Snapshot& snapshot, Decision& decision) {
  if (snapshot.memo.spawns < snapshot.options.max_spawns || decision.desired.empty())
    return;
  const std::string why = "the session has started " + std::to_string(snapshot.memo.spawns) +
                          " agents (option max_spawns)";
  for (const Desired& wanted : decision.desired)
    decision.holds.push_back(
        Hold{wanted.role, wanted.subject, cause_of(Situation::max_spawns), why,
             "raise `max_spawns` below `dialects: coordination:` in the configuration, then "
             "`baton reload`; `baton doctor` checks it"});
  decision.desired.clear();
}

/// Without a plan nothing starts.
void hold_without_plan(const Snapshot& snapshot, Decision& decision) {
  const std::string path = path_of(snapshot.options, "pm_state");
  const auto rejected = snapshot.view.rejected.find(path);
  const bool missing = rejected == snapshot.view.rejected.end();
  const Hold whole{"", "", cause_of(missing ? Situation::plan_missing : Situation::plan_rejected),
                   missing ? path + " is missing: nothing is started without a plan"
                           : path + " was rejected (" + first_error(path, rejected->second) +
                                 "): nothing is started without a plan",
                   missing ? command("start", snapshot.view.flow) + " --requirements TEXT"
                           : correction(snapshot, path)};
  decision.holds.push_back(whole);
  for (const Desired& wanted : decision.desired) {
    Hold hold = whole;
    hold.role = wanted.role;
    hold.subject = wanted.subject;
    decision.holds.push_back(std::move(hold));
  }
  decision.desired.clear();
}

/// The end of the session, its progress, and which groups are at their end.
void report_standing(const Snapshot& snapshot, SessionStage stage, Decision& decision) {
  decision.standing.cause = cause_of(Situation::working);
  // Nobody reads these files, so they block nothing.
  for (const MisnamedRow& row : kMisnamed)
    decision.own_faults.push_back(snapshot.options.path + "/messages/" + std::string(row.name) +
                                  ".json");
  decision.order.emplace_back(kSession);
  for (const Group& group : snapshot.plan.groups) {
    decision.order.push_back(group.id);
    if (group.status == Status::complete && (group.approved || !snapshot.options.reviews))
      decision.ends.push_back(group.id);
  }
  if (const std::size_t total = snapshot.plan.groups.size(); total > 0) {
    const auto complete =
        std::count_if(snapshot.plan.groups.begin(), snapshot.plan.groups.end(),
                      [](const Group& group) { return group.status == Status::complete; });
    decision.progress = Progress{static_cast<std::uint64_t>(complete), total, "groups"};
  }
  if (stage != SessionStage::completed || snapshot.any_live())
    return;
  decision.ends.emplace_back(kSession);
  decision.standing = Standing{
      cause_of(Situation::completed),
      snapshot.options.reviews ? "every group is complete and approved" : "every group is complete",
      "",
      {}};
}

Control control(SessionStage stage) {
  switch (stage) {
    case SessionStage::none:
    case SessionStage::no_requirements:
    case SessionStage::completed:
      return Control::idle;
    case SessionStage::planning:
    case SessionStage::working:
    case SessionStage::phase_check:
    case SessionStage::final_check:
      return Control::run;
  }
  return Control::run;
}

Decision decide(const View& view) {
  Snapshot snapshot(view);
  Decision decision;
  Writes writes;
  std::vector<Update> inbox_moves;
  if (const SessionStage stage = session_stage(snapshot); stage != SessionStage::none) {
    note_starts(snapshot, writes);
    note_help(snapshot);
    note_documents(snapshot);
    if (const Accepted* const file = find(view.docs, "group_status");
        file == nullptr || file->present) {
      answer(snapshot, writes, decision);
      inbox_moves = apply_inbox(snapshot, writes, decision);
      apply_messages(snapshot, writes);
    } else {
      // baton cannot write group_status while it is missing, so an answer would have no effect.
      refuse_answers(snapshot, decision);
    }
    note_word(snapshot, decision);
    note_end(snapshot, stage);
    route_session(snapshot, stage, decision);
  }
  // route_session may just have released a phase, which changes the stage.
  const SessionStage stage = session_stage(snapshot);
  route_groups(snapshot, stage, writes, decision);
  if (stage == SessionStage::none)
    hold_without_plan(snapshot, decision);
  hold_rejected(snapshot, decision);
  apply_spawn_limit(snapshot, decision);
  release(snapshot, decision);
  report_put_back(snapshot, decision);
  decision.updates = writes.updates(snapshot);
  for (Update& move : inbox_moves)
    decision.updates.push_back(std::move(move));
  if (stage != SessionStage::none) {
    std::vector<Update> mail = mark_read(snapshot);
    if (mail.empty())
      mail = archive_messages(snapshot, decision);
    for (Update& update : mail)
      decision.updates.push_back(std::move(update));
    write_orchestrator(snapshot, stage, writes, decision);
    note_ends(snapshot);
    snapshot.memo.fresh = false;
    decision.memo = json_of(snapshot.memo);
  } else {
    decision.memo = view.memo;
  }
  decision.control = control(stage);
  report_standing(snapshot, stage, decision);
  return decision;
}

constexpr std::array<std::string_view, 2> kVerbs = {"answer", "approve"};
constexpr std::array<std::string_view, 1> kTolerated = {"coordination/S17"};

}  // namespace
}  // namespace coordination

namespace {
/// The names that brief.cpp sets in Brief::values.
constexpr std::array<std::string_view, 3> kPlaceholders = {"group", "branch", "tier"};
constexpr std::string_view kRoles[] = {"project_manager", "developer", "qa_expert", "tech_lead"};

}  // namespace

const Dialect& coordination_dialect() {
  static const Dialect dialect = {
      .name = "coordination",
      .files = coordination::files,
      .own_files =
          [](const Json& options) {
            return std::vector<std::string>{coordination::options_of(options).path +
                                            "/inbox/archive/{part}.json"};
          },
      .check = coordination::check,
      .check_flow = coordination::check_flow,
      .tolerated = coordination::kTolerated,
      .admit = coordination::admit,
      .mends = true,  // messages that share an id
      .stages = coordination::stages,
      .decide = coordination::decide,
      .states = coordination::kStates,
      .words = coordination::words,
      .verbs = coordination::kVerbs,
      .brief = coordination::brief,
      .placeholders = kPlaceholders,
      .roles = kRoles,
      .create = coordination::create,
      .send = coordination::with_message,
      .rebuild = coordination::rebuild,
  };
  return dialect;
}

}  // namespace baton
