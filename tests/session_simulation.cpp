// SPDX-License-Identifier: Apache-2.0

// Coordination sessions in a seeded world: up to four agents write group_status.json as a whole
// from copies they read at some time before (session_team.h); mailboxes, inbox files, plans and
// orchestrator_state are written the same way. Events are dropped, doubled and reordered, disks
// are full, the daemon is killed between any two port calls, the machine goes down. What baton
// has once accepted is never lost and never goes backwards, nothing runs twice, every start is
// counted, nobody waits for what is done, nothing is completed that is not, and when the trouble
// ends the session comes to its end.
//
// A failing seed prints `seed=S step=N` and is replayed by `--first S --seeds 1 --trace`.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seeded_world.h"
#include "session_mutants.h"
#include "session_team.h"

namespace baton::testing {
namespace {

constexpr int kSteps = 160;
constexpr int kRounds = 200;
constexpr std::size_t kMostDevelopers = 4;
constexpr const char* kRequirements = "Build it.";
const FlowId session_flow{"coordination", "coordination"};

struct Counts {
  FlowIndex flow_index;
  std::uint64_t starts = 0;
  std::uint64_t answers = 0;
  std::uint64_t archived = 0;
  std::size_t most_writers = 0;
  std::map<std::string, std::uint64_t> events;
};

class Session {
 public:
  Session(std::uint64_t seed, std::string_view mutant, Counts& counts, bool tracing)
      : chance_(seed, mutant, counts.flow_index), counts_(counts), tracing_(tracing) {
    const auto config = parse_json(
        R"({"agents": {"project_manager": {}, "developer": {}, "qa_expert": {}, "tech_lead": {}},
            "limits": {"max_running": 8, "spawns_per_hour": 100000, "backoff": "1s",
                       "max_backoff": "2s"},
            "archive_days": 1})");
    auto setup = setup_of(*config, "coordination");
    if (!setup) {
      fault(describe(setup.error()));
      return;
    }
    world_.setup = std::move(*setup);
    world_.setup.on_interrupted = chance_.any_policy();
    for (const SessionMutant& each : session_mutants())
      if (each.name == mutant)
        world_.setup.dialects.front().first = &each.dialect;
    world_.journal.after_commit = [this](const Commit& commit) { committed(commit); };
  }

  std::optional<Fault> run() {
    chance_.guarded([&] { return world_.start(); });
    request("start", "", Json::object({{"requirements", kRequirements}}));
    for (chance_.step = 1; chance_.step <= kSteps && !chance_.fault; ++chance_.step) {
      happen();
      chance_.deliver();
      check();
    }
    for (int round = 0; round < kRounds && !chance_.fault && !over(); ++round, ++chance_.step)
      rest();
    if (!chance_.fault)
      check_end();
    if (tracing_)
      trace();
    counts_.starts += claims();
    counts_.most_writers = std::max(counts_.most_writers, team_.most_writers());
    for (const Event& event : world_.journal.tables.events)
      ++counts_.events[event.event];
    return chance_.fault;
  }

 private:
  using Shim = FakeAgents::Shim;

  void fault(std::string what) { chance_.say(std::move(what)); }

  // ---- what happens -----------------------------------------------------------------------------

  void happen() {
    const std::size_t what = random_.below(16);
    const auto running = world_.agents.in(FakeAgents::State::running);
    if (what < 9 && !running.empty())
      team_.work(*random_.pick(running), false);
    else if (what == 9)
      world_.fuse.light(1 + random_.below(24));
    else if (what == 10)
      trouble();
    else if (what == 11 && random_.one_in(chance_.mutant == "no_sync" ? 2 : 6))
      chance_.power_cut();
    else if (what == 12 && random_.one_in(4))
      request(random_.one_in(3) ? "pause" : "resume", "", Json::object());
    else if (what == 13 && random_.one_in(6))
      world_.clock.advance(std::chrono::hours(25));
    else
      world_.clock.advance(Millis(what < 14 ? 60 : random_.below(2500)));
    world_.agents.tick();
  }

  void trouble() {
    chance_.trouble();
    // A fifth writer, right before baton writes.
    if (random_.one_in(6))
      world_.disk.racing[status_path] =
          team_.accepted(status_path).set("_note", Json(++notes_)).dump();
  }

  void request(const Word& verb, const Subject& subject, const Json& arguments) {
    Request request;
    request.id = "request-" + std::to_string(1000 + requests_++);
    request.verb = verb;
    request.flow = session_flow;
    request.subject = subject;
    request.arguments = arguments;
    request.made = world_.clock.at;
    world_.requests.add(request);
  }

  /// The trouble is over: one agent at a time does its work well, and a person answers what is
  /// asked.
  void rest() {
    chance_.settle();
    const auto running = world_.agents.in(FakeAgents::State::running);
    repair();
    chance_.guarded([&] { return world_.settle(); });
    if (!running.empty())
      team_.work(*running.front(), true);
    else
      person();
    chance_.guarded([&] { return world_.settle(); });
    check_handed_on();
    chance_.guarded([&] { return world_.pass(Millis(3000)); });
    check();
  }

  /// What stands there torn or rejected is nobody's but a person's to put right.
  void repair() {
    const auto& tables = world_.journal.tables;
    for (const auto& [path, row] : tables.rejected)
      if (const auto good = tables.accepted.find(path); good != tables.accepted.end())
        world_.disk.write(path, good->second.second);
      else
        world_.disk.remove(path);
    for (const auto& [path, bytes] : std::map(world_.disk.files()))
      if (!parse_json(bytes))
        if (const auto good = tables.accepted.find(path); good != tables.accepted.end())
          world_.disk.write(path, good->second.second);
  }

  void person() {
    const auto record = world_.engine->records().find(session_flow);
    if (record == world_.engine->records().end())
      return;
    if (record->second.control.control != Control::run)
      request("resume", "", Json::object());
    std::set<Subject> asked;
    for (const Hold& hold : record->second.decision.holds) {
      if (asked.insert(hold.subject).second)
        request("answer", hold.subject, Json::object());
      if (hold.action.find("baton approve") != std::string::npos)
        approve();
    }
    request("retry", "", Json::object());
    ++counts_.answers;
  }

  /// A group that somebody completed without a review is reviewed by the person.
  void approve() {
    const Json groups = team_.accepted(status_path);
    for (const auto& member : groups->GetObject())
      if (const std::string id = member.name.GetString();
          !id.starts_with('_') && !approved(groups, id)) {
        approved_.insert(id);
        request("approve", id, Json::object());
      }
  }

  // ---- what must hold ---------------------------------------------------------------------------

  std::size_t claims() const {
    return static_cast<std::size_t>(
        std::count_if(world_.agents.shims.begin(), world_.agents.shims.end(),
                      [](const auto& row) { return row.second.claim; }));
  }

  /// After a power cut nobody knows whether an agent that was let go had begun; it counts.
  std::size_t perhaps() const {
    const auto& runs = world_.journal.tables.runs;
    return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [&](const Run& run) {
      const auto shim = world_.agents.shims.find(run.id);
      // One that was being ended when the machine went down is not told as interrupted.
      return (run.outcome == Outcome::interrupted || run.reason == "machine_down") &&
             (shim == world_.agents.shims.end() || !shim->second.claim);
    }));
  }

  void check() {
    chance_.check();
    std::set<Subject> busy;
    std::map<Role, std::size_t> at_work;
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running)) {
      const Key& key = shim->launch.key;
      ++at_work[key.role];
      if (!busy.insert(key.subject).second)
        fault("two agents work on " + key.subject);
      if (key.role == "developer")
        check_order(key.subject);
    }
    if (at_work["developer"] > kMostDevelopers)
      fault("too many developers");
    if (at_work["project_manager"] > 1)
      fault("two project managers");
  }

  static std::string status_in(const Json& groups, std::string_view id) {
    const Value* const entry = json::child(*groups, id);
    return entry == nullptr ? "pending" : std::string(json::text(*entry, "status").value_or(""));
  }

  static std::vector<const Value*> list_of(const Value& from, std::string_view name) {
    std::vector<const Value*> all;
    if (const Value* const list = json::child(from, name); list != nullptr && list->IsArray())
      for (const Value& item : list->GetArray())
        all.push_back(&item);
    return all;
  }

  /// A developer works on a group whose dependencies are complete.
  void check_order(const Subject& subject) {
    const Json plan = team_.accepted(plan_path);
    const Json groups = team_.accepted(status_path);
    for (const Value* const task : list_of(*plan, "task_groups"))
      if (json::text(*task, "id") == subject)
        for (const Value* const need : list_of(*task, "depends_on"))
          if (status_in(groups, json::text(*need).value_or("")) != "complete")
            fault(subject + " is being worked on before " +
                  std::string(json::text(*need).value_or("")) + " is complete");
  }

  /// Each version that was accepted, right when it was.
  void committed(const Commit& commit) {
    bool completed = false;
    for (const auto& [row, bytes] : commit.accepted) {
      const auto parsed = parse_json(bytes);
      if (!parsed)
        return fault("what was accepted of " + row.path + " is no JSON");
      if (row.kind == "group_status")
        groups_accepted(**parsed, row.writer == "baton");
      else if (row.kind == "pm_state")
        plan_accepted(**parsed);
      else if (row.kind == "archive")
        counts_.archived += 1;
      else if (row.path.starts_with("coordination/messages/"))
        mail_accepted(**parsed, row.path);
      else if (row.kind == "orchestrator_state")
        completed = completed || json::text(**parsed, "status") == "completed";
    }
    if (completed)
      check_completed();
  }

  bool planned(std::string_view id) const {
    const Json plan = team_.accepted(plan_path);
    const auto tasks = list_of(*plan, "task_groups");
    return std::any_of(tasks.begin(), tasks.end(),
                       [&](const Value* task) { return json::text(*task, "id") == id; });
  }

  /// Commits that were accepted once are accepted ever after, and no entry is taken again that was
  /// there earlier. (Of a start that came to nothing baton's own entry may be the same as before.)
  void groups_accepted(const Value& groups, bool by_baton) {
    for (const auto& member : groups.GetObject()) {
      const std::string id = member.name.GetString();
      if (id.starts_with('_'))
        continue;
      std::set<std::string> now;
      for (const Value* const commit : list_of(member.value, "commits"))
        now.insert(std::string(json::text(*commit).value_or("")));
      std::set<std::string>& kept = kept_[id];
      if (!std::includes(now.begin(), now.end(), kept.begin(), kept.end()))
        fault("work on " + id + " that was accepted is lost");
      kept = std::move(now);
      check_reviewed(id, member.value);
      const std::string text = json::dump(member.value);
      const bool moved = std::exchange(last_entry_[id], text) != text;
      if (moved && !entries_[id].insert(text).second && !by_baton)
        fault(id + " is as it was earlier: " + text);
    }
    for (const auto& [group, commits] : std::map(kept_)) {
      if (json::child(groups, group) != nullptr)
        continue;
      if (planned(group))
        fault("the group " + group + " is lost");
      kept_.erase(group);
    }
  }

  /// Good is what its review or a person has said so of.
  void check_reviewed(const std::string& id, const Value& entry) {
    bool good = json::text(entry, "status") == "complete";
    for (const Value* const feedback : list_of(entry, "tech_lead_feedback"))
      good = good || json::text(*feedback, "decision") == "approved";
    if (good && !reviewed(id))
      fault(id + " passes for good, and was never reviewed");
  }

  bool reviewed(const std::string& id) const {
    const auto& runs = world_.journal.tables.runs;
    return approved_.contains(id) || std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
             return run.key.role == "tech_lead" && run.key.subject == id && run.purpose == "review";
           });
  }

  void plan_accepted(const Value& plan) {
    const auto iteration = json::integer(plan, "iteration").value_or(0);
    if (iteration < iteration_)
      fault("an older plan was accepted");
    iteration_ = iteration;
    if (json::text(plan, "original_requirements") != kRequirements)
      fault("the requirements were changed");
  }

  /// A message that was accepted stays; it is read by baton only when the recipient is done.
  void mail_accepted(const Value& file, const std::string& path) {
    std::map<std::string, std::string>& known = messages_[path];
    std::set<std::string> there;
    for (const Value* const message : list_of(file, "messages")) {
      const std::string id(json::text(*message, "id").value_or(""));
      const std::string group(json::text(*message, "group_id").value_or(""));
      if (json::text(*message, "decision") == "approved" && !reviewed(group))
        fault("message " + id + " approves " + group + ", which was never reviewed");
      if (!there.insert(id).second)
        fault("two messages of " + path + " are called " + id);
      const bool read = json::boolean(*message, "read").value_or(false);
      const std::string body = Json(*message).set("read", true).dump();
      const auto [old, fresh] = known.emplace(id, body);
      if (!fresh && old->second != body)
        fault("message " + id + " of " + path + " was changed");
      if (read && read_.insert(path + id).second)
        check_read(*message);
      if (!read && read_.contains(path + id))
        fault("message " + id + " of " + path + " is unread again");
    }
    const Json archive = team_.accepted(archive_of(path));
    for (const Value* const message : list_of(*archive, "messages"))
      there.insert(std::string(json::text(*message, "id").value_or("")));
    for (const auto& [id, body] : known)
      if (!there.contains(id))
        fault("message " + id + " of " + path + " is lost");
  }

  static std::string archive_of(const std::string& mailbox) {
    return "coordination/messages/archive/" + mailbox.substr(mailbox.rfind('/') + 1);
  }

  void check_read(const Value& message) {
    const auto& runs = world_.journal.tables.runs;
    const bool done = std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
      return run.key.role == json::text(message, "to") &&
             run.key.subject == json::text(message, "group_id") &&
             run.outcome == Outcome::succeeded;
    });
    if (!done)
      fault("message " + std::string(json::text(message, "id").value_or("")) +
            " is read, and nobody can have read it");
  }

  /// Whatever was handed on has arrived, whichever way it went.
  void check_handed_on() {
    const auto said = team_.take_handed_on();
    if (!said || world_.engine == nullptr)
      return;
    const std::string status = status_in(team_.accepted(status_path), said->group);
    const std::map<std::string, std::string> under_way = {{"waiting_qa", "qa_testing"},
                                                          {"waiting_review", "tech_review"}};
    const auto next = under_way.find(said->status);
    if (status != said->status && (next == under_way.end() || status != next->second))
      fault(said->group + " was handed on as " + said->status + " by " + said->how +
            ", and stands as " + status);
  }

  bool approved(const Json& groups, const std::string& id) const {
    const Value* const entry = json::child(*groups, id);
    for (const Value* const feedback :
         entry == nullptr ? std::vector<const Value*>{} : list_of(*entry, "tech_lead_feedback"))
      if (json::text(*feedback, "decision") == "approved")
        return true;
    const std::string box = "coordination/messages/techlead_to_dev.json";
    for (const std::string& path : {box, archive_of(box)}) {
      const Json mail = team_.accepted(path);
      for (const Value* const message : list_of(*mail, "messages"))
        if (json::text(*message, "group_id") == id &&
            json::text(*message, "decision") == "approved")
          return true;
    }
    return false;
  }

  /// At the moment the session is completed, it is.
  void check_completed() {
    const Json groups = team_.accepted(status_path);
    const Json plan = team_.accepted(plan_path);
    std::set<std::string> ids;
    for (const Value* const task : list_of(*plan, "task_groups"))
      ids.insert(std::string(json::text(*task, "id").value_or("")));
    for (const auto& member : groups->GetObject())
      if (const std::string id = member.name.GetString(); !id.starts_with('_'))
        ids.insert(id);
    if (ids.empty())
      fault("a session without groups is completed");
    for (const std::string& id : ids) {
      if (status_in(groups, id) != "complete")
        fault("the session is completed, and " + id + " is " + status_in(groups, id));
      if (!approved(groups, id))
        fault("the session is completed, and nobody has approved " + id);
    }
    if (!team_.said_word())
      fault("the session is completed, and nobody has said so");
  }

  bool over() {
    return json::text(*team_.accepted(state_path), "status") == "completed" &&
           world_.agents.in(FakeAgents::State::running).empty();
  }

  /// Each start has a number of its own; -1 when they do not follow each other.
  static std::int64_t starts_logged(const Value& state) {
    constexpr std::string_view kSpawn = "spawn_";
    std::int64_t starts = 0;
    for (const Value* const entry : list_of(state, "decisions_log")) {
      const std::string decision(json::text(*entry, "decision").value_or(""));
      if (decision == "undo_spawn" && json::integer(*entry, "iteration") != --starts)
        return -1;
      if (!decision.starts_with(kSpawn))
        continue;
      if (json::integer(*entry, "iteration") != starts + 1)
        return -1;
      std::int64_t several = 1;
      if (decision.ends_with("_developers_parallel"))
        several = std::stoll(decision.substr(kSpawn.size()));
      starts += several;
    }
    return starts;
  }

  void check_end() {
    if (!over()) {
      fault("the session does not come to its end");
      return;
    }
    const Json state = team_.read(state_path);
    const auto spawns = json::integer(*state, "total_spawns").value_or(-1);
    if (spawns != static_cast<std::int64_t>(claims() + perhaps()))
      fault("total_spawns is " + std::to_string(spawns) + ", " + std::to_string(claims()) +
            " agents were started, perhaps " + std::to_string(perhaps()) + " more");
    if (const std::int64_t logged = starts_logged(*state); logged != spawns)
      fault("decisions_log tells of " + std::to_string(logged) + " starts, total_spawns is " +
            std::to_string(spawns));
    if (!list_of(*state, "active_agents").empty())
      fault("agents are active in a session that has ended");
    check_completed();
    chance_.check_known();
    chance_.check_restart();
  }

  void trace() {
    for (const Event& event : world_.journal.tables.events)
      std::printf("%s %s %s %s: %s\n", iso_time(event.time).c_str(), event.event.c_str(),
                  event.subject.c_str(), event.role.c_str(), event.why.c_str());
    for (const auto& [path, bytes] : world_.disk.files())
      std::printf("%s: %s\n", path.c_str(), bytes.c_str());
    if (world_.engine != nullptr)
      for (const auto& [flow, record] : world_.engine->records())
        for (const Hold& hold : record.holds)
          std::printf("%s %s: %s\n", hold.subject.c_str(), text(hold.cause).c_str(),
                      hold.why.c_str());
  }

  SeededWorld chance_;
  World& world_ = chance_.world;
  Random& random_ = chance_.random;
  Team team_{world_, random_};
  Counts& counts_;
  bool tracing_;
  std::map<std::string, std::set<std::string>> kept_;
  std::map<std::string, std::set<std::string>> entries_;
  std::map<std::string, std::string> last_entry_;
  std::map<std::string, std::map<std::string, std::string>> messages_;
  std::set<std::string> read_;
  std::set<std::string> approved_;  ///< by the person
  std::int64_t iteration_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t notes_ = 0;
};

std::string summary(const Counts& counts) {
  const auto count = [&](const char* event) {
    const auto found = counts.events.find(event);
    return std::to_string(found == counts.events.end() ? 0 : found->second);
  };
  return std::to_string(counts.flow_index.worlds) + " sessions, " + std::to_string(counts.starts) +
         " starts, " + std::to_string(counts.flow_index.crashes) + " crashes, " +
         std::to_string(counts.flow_index.power_cuts) + " power cuts, " + count("merged") +
         " merges, " + std::to_string(counts.archived) + " times archived, " + count("restored") +
         " restored, " + count("rejected") + " rejected, " + std::to_string(counts.answers) +
         " times a person was asked, at most " + std::to_string(counts.most_writers) +
         " writers at once";
}

int simulate(const std::vector<std::string>& words) {
  Counts counts;
  Sweep all;
  all.program = "baton_session_simulation";
  all.mutants = protocol_mutants();
  for (const SessionMutant& mutant : session_mutants())
    all.mutants.push_back(mutant.name);
  all.trial = [&](std::uint64_t seed, std::string_view mutant, bool trace) {
    return Session(seed, mutant, counts, trace).run();
  };
  all.summary = [&] { return summary(counts); };
  return sweep(all, words);
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
