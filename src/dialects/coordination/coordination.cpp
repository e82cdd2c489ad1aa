#include "dialects/coordination/coordination.h"

#include <algorithm>
#include <array>

#include "dialects/coordination/archive.h"
#include "dialects/coordination/check.h"
#include "dialects/coordination/create.h"
#include "dialects/coordination/evidence.h"
#include "dialects/coordination/merge.h"
#include "dialects/coordination/orchestrator.h"
#include "dialects/coordination/routing.h"
#include "dialects/coordination/session.h"
#include "dialects/coordination/starts.h"

namespace baton {
namespace coordination {
namespace {

constexpr Millis kLinger{60'000};

Stages stages(const View& view) {
  const Scene scene(view);
  Stages stages;
  for (const Group& group : scene.plan.groups)
    stages[group.id] = stage_of(scene, group);
  if (const Standing stands = standing(scene); stands != Standing::none)
    stages[Subject(kSession)] = word(stands);
  return stages;
}

/// Agents that have handed on and do not leave, and those that do not move (page section 2.6).
void release(const Scene& scene, Decision& decision) {
  decision.releases.push_back(Release{
      "", "", false, kLinger, "the work was handed on and the process did not leave by itself"});
  if (scene.options.stall == Millis(0))
    return;
  for (const Run& run : scene.view.runs) {
    const auto group = scene.memo.groups.find(run.key.subject);
    const auto stage = scene.view.stages.find(run.key.subject);
    if (!run.live() || group == scene.memo.groups.end() || stage == scene.view.stages.end())
      continue;
    const Time moved = std::max(run.started, Time(Millis(group->second.changed_ms)));
    const Time due = moved + scene.options.stall;
    const std::string why = std::string(kStalled) + ": " + run.key.subject +
                            " has not changed since " + iso_time(moved);
    if (scene.view.now >= due)
      decision.notices.push_back(Notice{"stalled", run.key.subject, why});
    else
      decision.wake = std::min(decision.wake.value_or(due), due);
    const Time since = std::max(stage->second.since, run.started);
    decision.releases.push_back(
        Release{run.key.role, run.key.subject, true, due + kLinger - since, why});
  }
}

/// What was put back or taken in spite of doubts, until the next agent has dealt with it.
void tell_put_back(const Scene& scene, Decision& decision) {
  Json all = Json::array();
  for (const PutBack& back : scene.memo.put_back) {
    all.push(Json::object({{"path", back.path},
                           {"pointer", back.pointer},
                           {"why", back.why},
                           {"stays", back.stays}}));
    // The write that puts something back stands in the history by itself.
    if (back.stays)
      decision.notices.push_back(
          Notice{"doubted", back.subject, back.path + "#" + back.pointer + ": " + back.why});
  }
  if (!all->Empty())
    decision.details = Json::object({{"put_back", all}});
}

/// A start is entered into group_status and orchestrator_state. While one of them stands there
/// rejected, it is not written over, so nothing can be started: every attempt would end as void.
void hold_rejected(const Scene& scene, Decision& decision) {
  for (const std::string_view kind : {"orchestrator_state", "group_status"}) {
    const Accepted* const file = find(scene.view.docs, kind);
    if (file == nullptr || file->rejected.empty())
      continue;
    std::erase_if(decision.desired, [&](const Desired& wanted) {
      if (kind == "group_status" && wanted.subject == kSession)
        return false;
      decision.holds.push_back(
          Hold{wanted.role, wanted.subject, "rejected",
               path_of(scene.options, kind) +
                   " as it stands was rejected; put it right (`baton explain " +
                   path_of(scene.options, kind) +
                   "` says what is wrong), or have the last good version back: `baton recover " +
                   text(scene.view.flow) + " --write`"});
      return true;
    });
  }
}

/// A session that starts and starts is held for a person (max_spawns).
void cap(const Scene& scene, Decision& decision) {
  if (scene.memo.spawns < scene.options.max_spawns || decision.desired.empty())
    return;
  const std::string why = "the session has started " + std::to_string(scene.memo.spawns) +
                          " agents (max_spawns of the dialect's options)";
  for (const Desired& wanted : decision.desired)
    decision.holds.push_back(Hold{wanted.role, wanted.subject, "max_spawns", why});
  decision.desired.clear();
  decision.failed = true;
}

Control control(Standing standing) {
  switch (standing) {
    case Standing::none:
    case Standing::no_requirements:
    case Standing::completed:
      return Control::idle;
    case Standing::planning:
    case Standing::working:
    case Standing::phase_check:
    case Standing::final_check:
      return Control::run;
  }
  return Control::run;
}

Decision decide(const View& view) {
  Scene scene(view);
  Decision decision;
  Writes writes;
  std::vector<Update> put_away;
  if (const Standing stands = standing(scene); stands != Standing::none) {
    note_starts(scene, writes);
    note_help(scene);
    note_documents(scene);
    if (const Accepted* const file = find(view.docs, "group_status");
        file == nullptr || file->present) {
      answer(scene, writes, decision);
      put_away = apply_inbox(scene, writes, decision);
      apply_messages(scene, writes);
    } else {
      // What would be written now would be lost, and so would whatever is remembered of it.
      refuse_answers(scene, decision);
    }
    note_word(scene, decision);
    note_end(scene, stands);
    route_session(scene, stands, decision);
  } else {
    const std::string plan = path_of(scene.options, "pm_state");
    decision.holds.push_back(
        Hold{"", "", "no_plan",
             plan + (view.rejected.contains(plan) ? " was rejected" : " is missing") +
                 ": nothing is started without a plan"});
  }
  // The project manager may just have released a phase.
  const Standing stands = standing(scene);
  route_groups(scene, stands, writes, decision);
  hold_rejected(scene, decision);
  cap(scene, decision);
  release(scene, decision);
  tell_put_back(scene, decision);
  decision.updates = writes.updates(scene);
  for (Update& move : put_away)
    decision.updates.push_back(std::move(move));
  if (stands != Standing::none) {
    std::vector<Update> mail = mark_read(scene);
    if (mail.empty())
      mail = rotate(scene, decision);
    for (Update& update : mail)
      decision.updates.push_back(std::move(update));
    write_orchestrator(scene, stands, writes, decision);
    note_ends(scene);
    scene.memo.fresh = false;
    decision.memo = json_of(scene.memo);
  } else {
    decision.memo = view.memo;
  }
  decision.control = control(stands);
  return decision;
}

constexpr std::array kVerbs = {std::string_view("answer"), std::string_view("approve")};
constexpr std::array kTolerated = {std::string_view("coordination/S17")};

}  // namespace
}  // namespace coordination

namespace {
/// What `brief.cpp` puts into Brief::values.
constexpr std::array kPlaceholders = {std::string_view("group"), std::string_view("branch"),
                                      std::string_view("tier")};
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
