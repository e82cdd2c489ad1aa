// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

Json active_agents(const Snapshot& snapshot) {
  Json agents = Json::array();
  for (const Run& run : snapshot.view.runs) {
    if (!run.live())
      continue;
    Json agent = Json::object({{"agent_type", run.key.role}});
    if (run.key.role != kManager)
      agent.set("group_id", run.key.subject);
    agent.set("spawned_at", iso_time(run.started));
    agents.push(agent);
  }
  return agents;
}

std::string phase(const Snapshot& snapshot, bool ended, const Value& state) {
  if (ended)
    return "completed";
  if (const Run* const manager = snapshot.live_manager())
    return manager->purpose == "final_check" ? "pm_final_check" : "pm_planning";
  if (!snapshot.memo.last_phase.empty())
    return snapshot.memo.last_phase;
  // baton has started no agent yet, so it keeps the phase that another program has written.
  const auto given = json::text(state, "current_phase");
  return given && given != "completed" ? std::string(*given) : "initialization";
}

/// Whether the status of the session shows the hold as an error: the project manager could not
/// help, or no further start is allowed.
bool is_error(const Hold& hold) {
  return hold.cause == cause_of(Situation::max_spawns) ||
         (hold.role == kManager && hold.cause == cause_of(Situation::stuck));
}

/// The first hold that is an error; nullptr: none.
const Hold* first_error_hold(const Decision& decision) {
  const auto found = std::find_if(decision.holds.begin(), decision.holds.end(), is_error);
  return found == decision.holds.end() ? nullptr : &*found;
}

/// Whether attempts at any work are used up. The engine has a hold for it; the status of the
/// session has to show it too.
bool any_exhausted(const Snapshot& snapshot, const Decision& decision) {
  return std::any_of(decision.desired.begin(), decision.desired.end(), [&](const Desired& wanted) {
    return snapshot.job(wanted.role, wanted.subject).exhausted;
  });
}

/// Logs once that a group waits for a person.
void log_holds(Snapshot& snapshot, const Decision& decision, Writes& writes) {
  for (const Group& group : snapshot.plan.groups) {
    GroupMemo& memo = snapshot.memo.groups[group.id];
    const auto stuck =
        std::find_if(decision.holds.begin(), decision.holds.end(), [&](const Hold& hold) {
          return hold.subject == group.id && hold.role == kManager &&
                 hold.cause == cause_of(Situation::stuck);
        });
    if (stuck != decision.holds.end() && !memo.asked)
      writes.log.push_back(LogEntry{snapshot.memo.spawns, "hold_group_" + group.id, stuck->why});
    memo.asked = stuck != decision.holds.end();
  }
}

/// Edits of orchestrator_state.
class Edits {
 public:
  explicit Edits(const Value& state) : state_(state) {}
  void set(std::string_view name, const Json& value) {
    const Value* const now = json::child(state_, name);
    if (now == nullptr || !json::equal(*now, *value))
      edits_.push_back(json::Edit{"/" + std::string(name), value.dump()});
  }
  void log(const std::vector<LogEntry>& entries, Time wall) {
    if (entries.empty())
      return;
    if (!member(state_, "decisions_log").IsArray())
      edits_.push_back(json::Edit{"/decisions_log", "[]"});
    for (const LogEntry& entry : entries)
      edits_.push_back(
          json::Edit{"/decisions_log/-", Json::object({{"iteration", Json(entry.number)},
                                                       {"decision", entry.decision},
                                                       {"reasoning", entry.reasoning},
                                                       {"timestamp", iso_time(wall)}})
                                             .dump()});
  }
  /// A reopened session has no end_time, until it ends again.
  void end(bool ended, Time wall) {
    const bool has_end = json::text(state_, "end_time").has_value();
    const bool ends_now = !has_end || json::text(state_, "status") != "completed";
    if (ended && ends_now)
      set("end_time", iso_time(wall));
    else if (!ended && has_end)
      set("end_time", Json());
  }
  std::vector<json::Edit> done(Time wall) && {
    if (!edits_.empty())
      edits_.push_back(json::Edit{"/last_update", json::quote(iso_time(wall))});
    return std::move(edits_);
  }

 private:
  const Value& state_;
  std::vector<json::Edit> edits_;
};

}  // namespace

std::string fresh_orchestrator(const std::string& session_id, Time wall) {
  return Json::object({{"session_id", session_id},
                       {"current_phase", "initialization"},
                       {"active_agents", Json::array()},
                       {"iteration", 0},
                       {"total_spawns", 0},
                       {"decisions_log", Json::array()},
                       {"status", "running"},
                       {"start_time", iso_time(wall)},
                       {"last_update", iso_time(wall)}})
      .pretty();
}

void write_orchestrator(Snapshot& snapshot, SessionStage stage, Writes& writes,
                        Decision& decision) {
  const Accepted* const file = find(snapshot.view.docs, "orchestrator_state");
  if (stage == SessionStage::none || (file != nullptr && !file->present))
    return;
  if (file == nullptr) {
    if (stage != SessionStage::no_requirements)
      decision.updates.emplace_back(
          Create{path_of(snapshot.options, "orchestrator_state"),
                 fresh_orchestrator(text_of(root(snapshot.view.docs, "pm_state"), "session_id"),
                                    snapshot.view.wall),
                 "the session has no orchestrator_state yet"});
    return;
  }
  const Value& state = file->document->root();
  const bool ended = stage == SessionStage::completed && !snapshot.any_live();
  const Hold* const error = first_error_hold(decision);
  const bool failed = error != nullptr || any_exhausted(snapshot, decision);
  const std::string status = ended ? "completed" : failed ? "error" : "running";
  log_holds(snapshot, decision, writes);
  const auto before = json::text(state, "status");
  // Below, baton overwrites `completed` while agents run or a final check is due. So it remembers
  // the claim here, until the session ends or there is more to do.
  if (before == "completed")
    snapshot.memo.written_word = !ended && completion_faults(snapshot).empty();
  if (ended && before != "completed")
    writes.log.push_back(LogEntry{snapshot.memo.spawns, "workflow_completed",
                                  "every group is complete and reviewed"});
  if (failed && before != "error")
    writes.log.push_back(LogEntry{snapshot.memo.spawns, "workflow_error",
                                  error == nullptr ? "all attempts have failed" : error->why});
  Edits edits(state);
  edits.set("current_phase", phase(snapshot, ended, state));
  edits.set("active_agents", active_agents(snapshot));
  edits.set("iteration", Json(snapshot.memo.spawns));
  edits.set("total_spawns", Json(snapshot.memo.spawns));
  edits.log(writes.log, snapshot.view.wall);
  edits.set("status", status);
  edits.end(ended, snapshot.view.wall);
  auto all = std::move(edits).done(snapshot.view.wall);
  if (!all.empty())
    decision.updates.emplace_back(SetMembers{path_of(snapshot.options, "orchestrator_state"),
                                             file->document->digest(), std::move(all),
                                             "starts and states of the session"});
  decision.declared = status;
}

}  // namespace baton::coordination
