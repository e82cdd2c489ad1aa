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

/// Stops agents that finished but still run, and agents that do not progress (page section 2.6).
void release(const Snapshot& snapshot, Decision& decision) {
  decision.releases.push_back(
      Release{"", "", false, kLinger, "the work is done but the process still runs"});
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

/// Reports what was put back or is doubted, until an agent has dealt with it.
void report_put_back(const Snapshot& snapshot, Decision& decision) {
  Json all = Json::array();
  for (const PutBack& back : snapshot.memo.put_back) {
    all.push(Json::object({{"path", back.path},
                           {"pointer", back.pointer},
                           {"why", back.why},
                           {"stays", back.stays}}));
    // The history already shows what was put back.
    if (back.stays)
      decision.notices.push_back(
          Notice{"doubted", back.subject, back.path + "#" + back.pointer + ": " + back.why});
  }
  if (!all->Empty())
    decision.details = Json::object({{"put_back", all}});
}

/// A start is written to group_status and orchestrator_state. While one of them is rejected, baton
/// does not write it, so nothing can start.
void hold_rejected(const Snapshot& snapshot, Decision& decision) {
  for (const std::string_view kind : {"orchestrator_state", "group_status"}) {
    const Accepted* const file = find(snapshot.view.docs, kind);
    if (file == nullptr || file->rejected.empty())
      continue;
    std::erase_if(decision.desired, [&](const Desired& wanted) {
      if (kind == "group_status" && wanted.subject == kSession)
        return false;
      decision.holds.push_back(Hold{
          wanted.role, wanted.subject, "rejected",
          path_of(snapshot.options, kind) + " was rejected; correct it (`baton explain " +
              path_of(snapshot.options, kind) +
              "` says what is wrong), or restore the last accepted version with `baton recover " +
              text(snapshot.view.flow) + " --write`"});
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
    decision.holds.push_back(Hold{wanted.role, wanted.subject, "max_spawns", why});
  decision.desired.clear();
  decision.failed = true;
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
      // A write would be lost now, and so would the memory of it.
      refuse_answers(snapshot, decision);
    }
    note_word(snapshot, decision);
    note_end(snapshot, stage);
    route_session(snapshot, stage, decision);
  } else {
    const std::string plan = path_of(snapshot.options, "pm_state");
    decision.holds.push_back(
        Hold{"", "", "no_plan",
             plan + (view.rejected.contains(plan) ? " was rejected" : " is missing") +
                 ": nothing is started without a plan"});
  }
  // The project manager may have released a phase just now.
  const SessionStage stage = session_stage(snapshot);
  route_groups(snapshot, stage, writes, decision);
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
  return decision;
}

constexpr std::array<std::string_view, 2> kVerbs = {"answer", "approve"};
constexpr std::array<std::string_view, 1> kTolerated = {"coordination/S17"};

}  // namespace
}  // namespace coordination

namespace {
/// What `brief.cpp` puts into Brief::values.
constexpr std::array<std::string_view, 3> kPlaceholders = {"group", "branch", "tier"};
constexpr std::string_view kRoles[] = {"project_manager", "developer", "qa_expert", "tech_lead"};

}  // namespace

const Dialect& coordination_dialect() {
  static const Dialect dialect = {
      .name = "coordination",
      .verbs = coordination::kVerbs,
      .files = coordination::files,
      .stages = coordination::stages,
      .decide = coordination::decide,
      .check = coordination::check,
      .tolerated = coordination::kTolerated,
      .admit = coordination::admit,
      .mends = true,  // messages that share an id
      .create = coordination::create,
      .send = coordination::with_message,
      .brief = coordination::brief,
      .placeholders = kPlaceholders,
      .roles = kRoles,
      .rebuild = coordination::rebuild,
  };
  return dialect;
}

}  // namespace baton
