// Coordination sessions in a seeded world: up to four agents write group_status.json as a whole
// from copies they read at some time before, tear it, fail, or leave without a word; events are
// dropped, and the daemon is killed between any two port calls. What baton has once accepted of a
// group's work is never lost, nothing runs twice, every start is counted, and when the trouble ends
// the session comes to its end.
//
// usage: baton_session_simulation [--seeds N] [--first SEED] [--trace]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"
#include "world.h"

namespace baton::testing {
namespace {

constexpr int kSteps = 160;
constexpr int kRounds = 600;
constexpr std::size_t kMostDevelopers = 4;
const std::string kPlanPath = "coordination/pm_state.json";
const std::string kStatusPath = "coordination/group_status.json";
const std::string kStatePath = "coordination/orchestrator_state.json";
const FlowId kFlow{"coordination", "coordination"};

struct Counts {
  std::uint64_t starts = 0;
  std::uint64_t crashes = 0;
  std::uint64_t merges = 0;
  std::uint64_t answers = 0;
};

class Session {
 public:
  Session(std::uint64_t seed, Counts& counts, bool tracing)
      : random_(seed), counts_(counts), tracing_(tracing) {
    const auto config = parse_json(
        R"({"agents": {"project_manager": {}, "developer": {}, "qa_expert": {}, "tech_lead": {}},
            "limits": {"max_running": 8, "spawns_per_hour": 100000, "backoff": "1s", "max_backoff": "2s"},
            "options": {}})");
    auto setup = setup_of(*config, "coordination");
    if (setup)
      world_.setup = std::move(*setup);
    else
      fault(describe(setup.error()));
  }

  std::optional<std::string> run() {
    guarded([&] { return world_.start(); });
    request("start", "", Json::object({{"requirements", "Build it."}}));
    for (int step = 0; step < kSteps && !fault_; ++step) {
      happen();
      deliver();
      check();
    }
    for (int round = 0; round < kRounds && !fault_ && !over(); ++round)
      rest();
    if (!fault_)
      check_end();
    if (tracing_)
      trace();
    counts_.starts += claims();
    for (const Event& event : world_.journal.tables.events)
      counts_.merges += event.event == "merged" ? 1U : 0U;
    return fault_;
  }

 private:
  using Shim = FakeAgents::Shim;

  void fault(std::string what) {
    if (!fault_)
      fault_ = std::move(what);
  }

  // ---- what agents do ---------------------------------------------------------------------------

  /// As it stands, or as it was when it was last whole.
  Json read(const std::string& path) {
    const std::string* const bytes = world_.disk.file(path);
    auto parsed = bytes == nullptr ? Result<Json>(Json::object()) : parse_json(*bytes);
    if (parsed && (*parsed)->IsObject())
      return std::move(*parsed);
    const auto accepted = world_.journal.tables.accepted.find(path);
    return accepted == world_.journal.tables.accepted.end() ? Json::object()
                                                            : *parse_json(accepted->second.second);
  }

  static std::string purpose(const Shim& shim) {
    for (const auto& [name, value] : shim.launch.env)
      if (name == "BATON_PURPOSE")
        return value;
    return {};
  }

  static Json list_with(const Value& entry, std::string_view name, const Json& item) {
    Json list = Json::array();
    if (const Value* const old = json::child(entry, name); old != nullptr && old->IsArray())
      for (const Value& each : old->GetArray())
        list.push(Json(each));
    return list.push(item);
  }

  Json feedback(const Value& entry, const char* decision) {
    return list_with(entry, "tech_lead_feedback",
                     Json::object({{"iteration", Json(static_cast<std::uint64_t>(++work_))},
                                   {"decision", decision},
                                   {"timestamp", "2026-01-22T09:00:00Z"}}));
  }

  Json develop(Json entry, bool well) {
    entry.set("commits", list_with(*entry, "commits", Json("c" + std::to_string(++work_))));
    const std::size_t how = well ? 0 : random_.below(6);
    if (how == 5)
      return entry.set("status", "dev_blocked")
          .set("blockers", list_with(*entry, "blockers",
                                     Json::object({{"description", "b" + std::to_string(work_)},
                                                   {"resolved", false}})));
    return entry.set("status", how == 4 ? "waiting_review" : "waiting_qa");
  }

  Json review(Json entry, const std::string& why, bool well) {
    if (why == "review") {
      const bool good = well || random_.one_in(2);
      entry.set("tech_lead_feedback", feedback(*entry, good ? "approved" : "changes_requested"));
      return entry.set("status", good ? "complete" : "changes_requested");
    }
    Json blockers = Json::array();
    if (const Value* const old = json::child(*entry, "blockers"); old != nullptr)
      for (const Value& each : old->GetArray())
        blockers.push(Json(each).set("resolved", true));
    entry.set("blockers", blockers);
    return entry.set("tech_lead_feedback", feedback(*entry, "unblocked"));
  }

  void write(const std::string& path, const Json& doc, bool well) {
    const std::string text = doc.dump();
    if (!well && random_.one_in(10))
      world_.disk.write(path, text.substr(0, random_.below(text.size())));  // torn, for a while
    else
      world_.disk.write(path, text);
  }

  void manage(Shim& shim, bool well, RunEnd& end) {
    Json plan = read(kPlanPath);
    const auto before = json::integer(*plan, "iteration").value_or(0);
    plan.set("iteration", Json(before + 1));
    if (purpose(shim) == "planning" && (well || !random_.one_in(4)))
      plan.set("mode", "parallel")
          .set("task_groups", *parse_json(R"([{"id": "A"}, {"id": "B"}, {"id": "C"}, {"id": "D"},
                                              {"id": "E", "depends_on": ["A", "B"]}])"));
    write(kPlanPath, plan, well);
    if (well || random_.one_in(3))
      end.output = "All is done.\nBAZINGA\n";
  }

  /// Reads at first; later writes all of what it read, with its own part changed, and ends.
  void work(Shim& shim, bool well) {
    const Key key = shim.launch.key;
    if (well || !copies_.contains(shim.id)) {
      copies_[shim.id] = read(kStatusPath).dump();
      if (!well)
        return;
    }
    RunEnd end;
    end.outcome = Outcome::succeeded;
    end.exit_code = 0;
    if (!well && random_.one_in(12)) {
      end.outcome = Outcome::failed;
    } else if (key.role == "project_manager") {
      manage(shim, well, end);
    } else if (well || !random_.one_in(10)) {
      Json copy = *parse_json(copies_.at(shim.id));
      const Value* const old = json::child(*copy, key.subject);
      Json entry = old == nullptr ? Json::object({{"status", "pending"}}) : Json(*old);
      if (key.role == "developer")
        entry = develop(std::move(entry), well);
      else if (key.role == "qa_expert")
        entry.set("status", well || !random_.one_in(3) ? "waiting_review" : "qa_failed");
      else
        entry = review(std::move(entry), purpose(shim), well);
      entry.set("current_agent", "none");
      write(kStatusPath, copy.set(key.subject, entry), well);
      copies_[shim.id] = copy.dump();
      if (!well && random_.one_in(4))
        return;  // goes on, and writes the same copy once more
    }
    if (shim.stopping) {
      end.outcome = Outcome::interrupted;
      end.signal = 15;
    }
    world_.agents.finish(shim.id, end);
  }

  // ---- what happens -----------------------------------------------------------------------------

  void happen() {
    const std::size_t what = random_.below(10);
    const auto running = world_.agents.in(FakeAgents::State::running);
    if (what < 6 && !running.empty())
      work(*random_.pick(running), false);
    else if (what == 6)
      world_.fuse.light(1 + random_.below(24));
    else
      world_.clock.advance(Millis(what == 7 ? 60 : random_.below(2500)));
    world_.agents.tick();
  }

  void request(const Word& verb, const Subject& subject, const Json& arguments) {
    Request request;
    request.id = "request-" + std::to_string(1000 + requests_++);
    request.verb = verb;
    request.flow = kFlow;
    request.subject = subject;
    request.arguments = arguments;
    request.made = world_.clock.at;
    world_.requests.add(request);
  }

  void guarded(const std::function<Result<void>()>& work) {
    try {
      if (auto done = work(); !done)
        fault("the daemon ended: " + describe(done.error()));
    } catch (const DaemonKilled&) {
      ++counts_.crashes;
      world_.kill();
    }
  }

  void deliver() {
    if (world_.engine == nullptr) {
      if (!random_.one_in(3))
        guarded([&] { return world_.start(); });
      return;
    }
    std::vector<Input> inputs;
    for (Input& input : world_.inputs())
      if (!std::holds_alternative<FileChanged>(input) || !random_.one_in(5))
        inputs.push_back(std::move(input));
    if (random_.one_in(6))
      inputs.emplace_back(Rescan{"timer"});
    guarded([&] { return world_.engine->step(inputs); });
    for (int i = 0; i < 4 && world_.engine != nullptr && world_.engine->pending(); ++i)
      guarded([&] { return world_.engine->step({}); });
  }

  /// The trouble is over: one agent at a time does its work well, and a person answers what is
  /// asked.
  void rest() {
    world_.fuse.cut();
    if (world_.engine == nullptr)
      guarded([&] { return world_.start(); });
    guarded([&] { return world_.engine->step({Rescan{"overflow"}}); });
    guarded([&] { return world_.settle(); });
    const auto running = world_.agents.in(FakeAgents::State::running);
    if (!running.empty())
      work(*running.front(), true);
    else
      person();
    repair();
    guarded([&] { return world_.settle(); });
    guarded([&] { return world_.pass(Millis(3000)); });
    check();
  }

  /// What was left torn is nobody's but a person's to put right.
  void repair() {
    for (const std::string& path : {kPlanPath, kStatusPath}) {
      const std::string* const bytes = world_.disk.file(path);
      const auto accepted = world_.journal.tables.accepted.find(path);
      if (bytes != nullptr && !parse_json(*bytes) &&
          accepted != world_.journal.tables.accepted.end())
        world_.disk.write(path, accepted->second.second);
    }
  }

  void person() {
    const auto book = world_.engine->books().find(kFlow);
    if (book == world_.engine->books().end())
      return;
    if (book->second.control.control != Control::run)
      request("resume", "", Json::object());
    std::set<Subject> asked;
    for (const Hold& hold : book->second.decision.holds)
      if (asked.insert(hold.subject).second)
        request("answer", hold.subject, Json::object());
    request("retry", "", Json::object());
    ++counts_.answers;
  }

  // ---- what must hold ---------------------------------------------------------------------------

  std::size_t claims() const {
    return static_cast<std::size_t>(
        std::count_if(world_.agents.shims.begin(), world_.agents.shims.end(),
                      [](const auto& row) { return row.second.claim; }));
  }

  void check() {
    for (const std::string& broken : world_.faults())
      fault(broken);
    std::set<Subject> busy;
    std::size_t developers = 0;
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running)) {
      developers += shim->launch.key.role == "developer" ? 1U : 0U;
      if (!busy.insert(shim->launch.key.subject).second)
        fault("two agents work on " + shim->launch.key.subject);
    }
    if (developers > kMostDevelopers)
      fault("too many developers");
    check_kept();
  }

  /// Commits of a group that were accepted once are accepted ever after.
  void check_kept() {
    const auto accepted = world_.journal.tables.accepted.find(kStatusPath);
    if (accepted == world_.journal.tables.accepted.end())
      return;
    const Json status = *parse_json(accepted->second.second);
    for (const auto& member : status->GetObject()) {
      std::set<std::string> now;
      if (const Value* const list = json::child(member.value, "commits"))
        for (const Value& commit : list->GetArray())
          now.insert(std::string(json::text(commit).value_or("")));
      std::set<std::string>& kept = kept_[member.name.GetString()];
      if (!std::includes(now.begin(), now.end(), kept.begin(), kept.end()))
        fault(std::string("work on ") + member.name.GetString() + " that was accepted is lost");
      kept = std::move(now);
    }
    for (const auto& [group, commits] : kept_)
      if (json::child(*status, group) == nullptr)
        fault("the group " + group + " is lost");
  }

  bool over() {
    return json::text(*read(kStatePath), "status") == "completed" &&
           world_.agents.in(FakeAgents::State::running).empty();
  }

  /// Each start has a number of its own; -1 when they do not follow each other.
  static std::int64_t starts_logged(const Value& state) {
    constexpr std::string_view kSpawn = "spawn_";
    std::int64_t starts = 0;
    const Value* const log = json::child(state, "decisions_log");
    if (log == nullptr || !log->IsArray())
      return -1;
    for (const Value& entry : log->GetArray()) {
      const std::string decision(json::text(entry, "decision").value_or(""));
      if (!decision.starts_with(kSpawn))
        continue;
      if (json::integer(entry, "iteration") != starts + 1)
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
    const Json state = read(kStatePath);
    const auto spawns = json::integer(*state, "total_spawns").value_or(-1);
    if (spawns != static_cast<std::int64_t>(claims()))
      fault("total_spawns is " + std::to_string(spawns) + ", " + std::to_string(claims()) +
            " agents were started");
    if (const std::int64_t logged = starts_logged(*state); logged != spawns)
      fault("decisions_log tells of " + std::to_string(logged) + " starts, total_spawns is " +
            std::to_string(spawns));
    const Json groups = read(kStatusPath);
    for (const char* const group : {"A", "B", "C", "D", "E"}) {
      const Value* const entry = json::child(*groups, group);
      if (entry == nullptr || json::text(*entry, "status") != "complete")
        fault(std::string(group) + " is not complete at the end");
    }
  }

  void trace() {
    for (const Event& event : world_.journal.tables.events)
      std::printf("%s %s %s %s: %s\n", iso_time(event.time).c_str(), event.event.c_str(),
                  event.subject.c_str(), event.role.c_str(), event.why.c_str());
    for (const std::string& path : {kPlanPath, kStatusPath, kStatePath})
      if (const std::string* const bytes = world_.disk.file(path))
        std::printf("%s: %s\n", path.c_str(), bytes->c_str());
  }

  World world_;
  Random random_;
  Counts& counts_;
  bool tracing_;
  std::optional<std::string> fault_;
  std::map<RunId, std::string> copies_;
  std::map<std::string, std::set<std::string>> kept_;
  std::uint64_t work_ = 0;
  std::uint64_t requests_ = 0;
};

int simulate(const std::vector<std::string>& words) {
  std::uint64_t seeds = 1000;
  std::uint64_t first = 1;
  bool tracing = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--trace")
      tracing = true;
    else if (words[i] == "--seeds" && i + 1 < words.size())
      seeds = std::strtoull(words[++i].c_str(), nullptr, 10);
    else if (words[i] == "--first" && i + 1 < words.size())
      first = std::strtoull(words[++i].c_str(), nullptr, 10);
    else
      return std::printf("baton_session_simulation [--seeds N] [--first SEED] [--trace]\n"), 2;
  }
  Counts counts;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed)
    if (const auto fault = Session(seed, counts, tracing).run()) {
      std::printf("seed=%llu: %s\n", static_cast<unsigned long long>(seed), fault->c_str());
      return 1;
    }
  std::printf(
      "%llu sessions, %llu starts, %llu crashes, %llu merges, %llu times a person was asked\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(counts.starts),
      static_cast<unsigned long long>(counts.crashes),
      static_cast<unsigned long long>(counts.merges),
      static_cast<unsigned long long>(counts.answers));
  return 0;
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
