#include <algorithm>
#include <charconv>

#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

Json active_agents(const Scene& scene) {
  Json agents = Json::array();
  for (const Run& run : scene.view.runs) {
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

std::string phase(const Scene& scene, bool ended, const Value& state) {
  if (ended)
    return "completed";
  if (const Run* const manager = scene.live_manager())
    return manager->purpose == "final_check" ? "pm_final_check" : "pm_planning";
  if (!scene.memo.last_phase.empty())
    return scene.memo.last_phase;
  // Somebody else has kept this file so far.
  const auto given = json::text(state, "current_phase");
  return given && given != "completed" ? std::string(*given) : "initialization";
}

bool any_live(const Scene& scene) {
  return std::any_of(scene.view.runs.begin(), scene.view.runs.end(),
                     [](const Run& run) { return run.live(); });
}

/// Attempts that are used up are held by the engine; the session's status says so as well.
bool needs_person(const Scene& scene, const Decision& decision) {
  return decision.failed ||
         std::any_of(decision.desired.begin(), decision.desired.end(), [&](const Desired& wanted) {
           return scene.job(wanted.role, wanted.subject).exhausted;
         });
}

/// A group that waits for a person is logged once.
void log_holds(Scene& scene, const Decision& decision, Writes& writes) {
  for (const Group& group : scene.plan.groups) {
    GroupMemo& memo = scene.memo.groups[group.id];
    const auto held = std::find_if(
        decision.holds.begin(), decision.holds.end(),
        [&](const Hold& hold) { return hold.subject == group.id && hold.reason == "stuck"; });
    if (held != decision.holds.end() && !memo.held)
      writes.log.push_back(LogEntry{scene.memo.spawns, "hold_group_" + group.id, held->why});
    memo.held = held != decision.holds.end();
  }
}

/// How many starts an entry of decisions_log stands for: none when it is about something else.
std::uint64_t starts_in(const std::string& decision) {
  constexpr std::string_view kSpawn = "spawn_";
  constexpr std::string_view kParallel = "_developers_parallel";
  if (!decision.starts_with(kSpawn))
    return 0;
  std::uint64_t count = 1;
  if (decision.ends_with(kParallel))
    (void)std::from_chars(decision.data() + kSpawn.size(), decision.data() + decision.size(),
                          count);
  return count;
}

/// The log without the start of that number, which never happened; later ones move up.
Json without(const Scene& scene, const Value& log, std::uint64_t number) {
  Json kept = Json::array();
  for (const Value& given : log.GetArray()) {
    Json entry(given);
    const std::string decision = text_of(given, "decision");
    const auto first = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, json::integer(given, "iteration").value_or(0)));
    const std::uint64_t starts = starts_in(decision);
    if (first > number || (first == number && starts == 0)) {
      entry.set("iteration", Json(first - 1));
    } else if (first <= number && number < first + starts) {
      if (starts == 1)
        continue;
      entry.set("decision", "spawn_" + std::to_string(starts - 1) + "_developers_parallel");
      // The only one left stands there by its name.
      for (const Run& run : scene.view.runs)
        if (const auto memo = scene.memo.runs.find(run.id);
            starts == 2 && memo != scene.memo.runs.end() && memo->second.number == first) {
          entry.set("decision", "spawn_" + run.key.role + "_group_" + run.key.subject);
          entry.set("reasoning", run.why);
        }
    }
    kept.push(entry);
  }
  return kept;
}

/// The edits that take one state of the file to another.
class Edits {
 public:
  explicit Edits(const Value& state) : state_(state) {}
  void set(std::string_view name, const Json& value) {
    const Value* const now = json::child(state_, name);
    if (now == nullptr || !json::equal(*now, *value))
      edits_.push_back(json::Edit{"/" + std::string(name), value.dump()});
  }
  void take_back(const Scene& scene, const std::vector<std::uint64_t>& numbers) {
    const Value* const log = json::child(state_, "decisions_log");
    if (log == nullptr || !log->IsArray() || numbers.empty())
      return;
    Json left(*log);
    for (const std::uint64_t number : numbers)
      left = without(scene, *left, number);
    set("decisions_log", left);
  }
  void log(const std::vector<LogEntry>& entries, Time wall) {
    if (entries.empty())
      return;
    if (const Value* const log = json::child(state_, "decisions_log");
        log == nullptr || !log->IsArray())
      edits_.push_back(json::Edit{"/decisions_log", "[]"});
    for (const LogEntry& entry : entries)
      edits_.push_back(
          json::Edit{"/decisions_log/-", Json::object({{"iteration", Json(entry.number)},
                                                       {"decision", entry.decision},
                                                       {"reasoning", entry.reasoning},
                                                       {"timestamp", iso_time(wall)}})
                                             .dump()});
  }
  /// What was opened again has no end, and then another one.
  void end(bool ended, Time wall) {
    const bool has_end = json::text(state_, "end_time").has_value();
    const bool anew = !has_end || json::text(state_, "status") != "completed";
    if (ended && anew)
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

std::string session_id(const Scene& scene) {
  const Value* const pm = root(scene.view.docs, "pm_state");
  return pm == nullptr ? std::string() : text_of(*pm, "session_id");
}

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

void write_orchestrator(Scene& scene, Standing standing, Writes& writes, Decision& decision) {
  const Accepted* const file = find(scene.view.docs, "orchestrator_state");
  if (standing == Standing::none || (file != nullptr && !file->present))
    return;
  if (file == nullptr) {
    if (standing != Standing::no_requirements)
      decision.updates.emplace_back(Create{path_of(scene.options, "orchestrator_state"),
                                           fresh_orchestrator(session_id(scene), scene.view.wall),
                                           "the session has no orchestrator_state yet"});
    return;
  }
  const Value& state = file->document->root();
  const bool ended = standing == Standing::completed && !any_live(scene);
  const bool failed = needs_person(scene, decision);
  const std::string status = ended ? "completed" : failed ? "error" : "running";
  log_holds(scene, decision, writes);
  const auto before = json::text(state, "status");
  // Somebody's word that stands nowhere else: while agents live, or a final check has to come
  // first, it is written over below. Forgotten as soon as the file has it for good.
  if (before == "completed")
    scene.memo.written_word = !ended && completion_faults(scene).empty();
  if (ended && before != "completed")
    writes.log.push_back(
        LogEntry{scene.memo.spawns, "workflow_completed", "every group is complete and reviewed"});
  if (failed && before != "error")
    writes.log.push_back(
        LogEntry{scene.memo.spawns, "workflow_error",
                 decision.holds.empty() ? "a person has to look" : decision.holds.front().why});
  Edits edits(state);
  edits.set("current_phase", phase(scene, ended, state));
  edits.set("active_agents", active_agents(scene));
  edits.set("iteration", Json(scene.memo.spawns));
  edits.set("total_spawns", Json(scene.memo.spawns));
  edits.take_back(scene, writes.taken_back);
  edits.log(writes.log, scene.view.wall);
  edits.set("status", status);
  edits.end(ended, scene.view.wall);
  auto all = std::move(edits).done(scene.view.wall);
  if (!all.empty())
    decision.updates.emplace_back(SetMembers{path_of(scene.options, "orchestrator_state"),
                                             file->document->digest(), std::move(all),
                                             "what the orchestrator has done"});
  decision.failed = decision.failed || failed;
  decision.declared = status;
}

}  // namespace baton::coordination
