// SPDX-License-Identifier: Apache-2.0

// Workflow runs in a seeded world: agents that report, fail, send the work back, tear their report,
// report of other runs, print it, leave without a word or are killed; people who approve, reject
// and decide too early; somebody who overwrites the run state; events that are lost, power cuts,
// and a daemon that is killed anywhere. The same worlds catch each mutant.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "config/registry.h"
#include "random.h"
#include "world.h"

namespace baton::testing {
namespace {

// Without optimisation a world takes half a second.
#ifdef NDEBUG
constexpr std::uint64_t kSeeds = 300;
#else
constexpr std::uint64_t kSeeds = 30;
#endif
constexpr std::uint64_t kMutantSeeds = 100;
constexpr int kEvents = 60;
constexpr int kRounds = 120;

constexpr const char* kWorkflow = R"(name: w
steps:
  - {id: plan, agent: worker, prompt: p}
  - {id: build, agent: worker, prompt: p, needs: [plan]}
  - {id: items, agent: worker, prompt: p, needs: [plan], loop: {items: [1, 2]}}
  - {id: gate, agent: reviewer, prompt: p, needs: [build, items], loop_back_to: build}
  - {id: ask, agent: reviewer, prompt: p, needs: [gate], human_in_the_loop: true, loop_back_to: ask}
)";
const std::vector<std::string> all_steps = {"plan", "build", "items", "gate", "ask"};
const std::vector<std::string> all_runs = {"r1", "r2"};

// --- mutants: the first ones are taken out of the dialect, the rest out of the protocol

const std::vector<std::string_view> all_mutants = {"takes_old_reports", "forgets",  "accepts_all",
                                                   "releases_early",    "no_claim", "no_lock",
                                                   "by_event"};

const Dialect& real() {
  return *dialect("agent_run");
}

View with(const View& view, const FlowState& docs, std::span<const Run> runs, const Json& memo) {
  View other{view.flow,     docs,         view.stages, runs,     memo,
             view.requests, view.options, view.env,    view.now, view.wall};
  other.rejected = view.rejected;
  other.rejected_digests = view.rejected_digests;
  other.control = view.control;
  return other;
}

Decision taking_old_reports(const View& view) {
  FlowState docs = view.docs;
  const auto state = docs.find(".agents/runs/" + view.flow.name + "/run_state.json");
  std::erase_if(docs, [&](const auto& row) {
    const Value* const step =
        state == docs.end() || row.second.kind != "report"
            ? nullptr
            : json::at(state->second.document->root(), "/steps/" + row.second.part);
    return step != nullptr && json::text(*step, "status") == "PENDING";
  });
  std::vector<Run> runs(view.runs.begin(), view.runs.end());
  for (Run& run : runs)
    run.base.clear();
  Decision decision = real().decide(with(view, docs, runs, view.memo));
  std::erase_if(decision.updates, [](const Update& update) {
    const auto* const moved = std::get_if<Move>(&update);
    return moved != nullptr && moved->from.find("/reports/") != std::string::npos;
  });
  return decision;
}

Decision forgetting(const View& view) {
  const Json nothing;
  Decision decision = real().decide(with(view, view.docs, view.runs, nothing));
  decision.memo = Json();
  return decision;
}

Admission accepting_all(const View& /*view*/, const Change& /*change*/) {
  return {};
}

const Dialect& mutated(std::string_view mutant) {
  static const std::map<std::string_view, Dialect> all = [] {
    std::map<std::string_view, Dialect> made;
    made.emplace("takes_old_reports", real()).first->second.decide = taking_old_reports;
    made.emplace("forgets", real()).first->second.decide = forgetting;
    made.emplace("accepts_all", real()).first->second.admit = accepting_all;
    return made;
  }();
  const auto found = all.find(mutant);
  return found == all.end() ? real() : found->second;
}

// --- the world

class Flows {
 public:
  Flows(std::uint64_t seed, std::string_view mutant) : random_(seed) {
    auto setup = setup_of(*parse_json(R"({"agents": {"worker": {}, "reviewer": {}},
        "on_interrupted": "retry", "limits": {"backoff": "1s", "max_backoff": "2s",
        "spawns_per_hour": 100000, "max_running": 8}})"),
                          "agent_run");
    REQUIRE(setup);
    world_.setup = std::move(*setup);
    world_.setup.dialects.front().first = &mutated(mutant);
    world_.agents.release_early = mutant == "releases_early";
    world_.agents.no_claim = mutant == "no_claim";
    world_.agents.no_lock = mutant == "no_lock";
    world_.disk.blind = mutant == "by_event";
    REQUIRE(world_.start());
    Json prompts = Json::object();
    for (const std::string& step : all_steps)
      prompts.set(step, "Do it.");
    for (const std::string& run : all_runs)
      request("start", run, "",
              Json::object({{"workflow", kWorkflow},
                            {"prompts", prompts},
                            {"max_attempts", 3},
                            {"pause_for_human_input", true}}));
    settle();
  }

  /// The first thing that was wrong; empty when nothing was.
  std::string live() {
    for (int i = 0; i < kEvents && fault_.empty(); ++i) {
      event();
      check();
    }
    for (int i = 0; i < kRounds && fault_.empty() && !over(); ++i)
      rest();
    if (fault_.empty())
      at_rest();
    return fault_;
  }

 private:
  using Shim = FakeAgents::Shim;

  void say(const std::string& what) {
    if (fault_.empty())
      fault_ = what;
  }

  void settle() {
    if (const auto settled = world_.survive(); !settled)
      say("the daemon ended: " + describe(settled.error()));
    world_.fuse.cut();
  }

  void pass(Millis by) {
    world_.fuse.cut();
    if (const auto passed = world_.pass(by); !passed)
      say("the daemon ended: " + describe(passed.error()));
  }

  /// As a daemon does by itself every minute.
  void look_around() {
    if (const auto looked = world_.engine->step({Rescan{"timer"}}); !looked)
      say("the daemon ended: " + describe(looked.error()));
    settle();
  }

  static std::string folder(const std::string& run) { return ".agents/runs/" + run; }
  static std::string state_path(const std::string& run) { return folder(run) + "/run_state.json"; }
  static std::string report_path(const Shim& shim) {
    const Key& key = shim.launch.key;
    return folder(key.flow.name) + "/reports/" + key.flow.name + "__" + key.subject + ".json";
  }

  Json accepted(const std::string& run) const {
    const auto row = world_.journal.tables.accepted.find(state_path(run));
    return row == world_.journal.tables.accepted.end() ? Json() : *parse_json(row->second.second);
  }

  static std::string status(const Json& state, const std::string& step = "") {
    const Value* const at = step.empty() ? &*state : json::at(*state, "/steps/" + step);
    return at == nullptr ? "" : std::string(json::text(*at, "status").value_or(""));
  }

  bool over() const {
    return std::all_of(all_runs.begin(), all_runs.end(), [&](const std::string& run) {
      return status(accepted(run)) == "COMPLETED";
    });
  }

  // --- agents

  std::string report(const Shim& shim, const std::string& word, bool gate_failure,
                     const std::string& run) const {
    const Key& key = shim.launch.key;
    const std::string now = iso_time(world_.clock.at);
    return Json::object({{"schema", "run_report@v0"},
                         {"run_id", run},
                         {"step_id", key.subject},
                         {"agent", key.role},
                         {"status", word},
                         {"started_at", now},
                         {"ended_at", now},
                         {"gate_failure", gate_failure},
                         {"artifacts", Json::array().push(Json("x/" + shim.id))},
                         {"logs", Json::array().push(Json("by " + shim.id))}})
        .dump();
  }

  void work(const Shim& shim, bool well) {
    const std::string& run = shim.launch.key.flow.name;
    const bool back = !well && shim.launch.key.subject == "gate" && random_.one_in(2);
    const std::string good = report(shim, "COMPLETED", back, run);
    const auto write = [&](const std::string& text) { world_.disk.write(report_path(shim), text); };
    switch (well ? 9 : random_.below(14)) {
      case 0:
        write(report(shim, "FAILED", false, run));
        return world_.leave(shim, 1);
      case 1:
        write(good.substr(0, good.size() / 2));
        return random_.one_in(2) ? world_.leave(shim, 0) : void();
      case 2:
        return world_.leave(shim, random_.one_in(2) ? 0 : 1);
      case 3:
        write(report(shim, "COMPLETED", false, run == "r1" ? "r2" : "r1"));
        return world_.leave(shim, 0);
      case 4:
        return world_.agents.kill_shim(shim.id);
      case 5: {
        RunEnd end;
        end.outcome = Outcome::succeeded;
        end.exit_code = 0;
        end.output = "<<<RUN_REPORT_JSON\n" + good + "\nRUN_REPORT_JSON>>>\n";
        return world_.agents.finish(shim.id, end);
      }
      case 6:
        return write(good);  // and it goes on
      default:
        write(good);
        reported_.insert(shim.id);
        world_.leave(shim, 0);
    }
  }

  // --- people

  void request(const Word& verb, const std::string& run, const Subject& step,
               const Json& arguments = Json::object()) {
    Request request;
    request.id = "request-" + std::to_string(1000 + asked_++);
    request.verb = verb;
    request.flow = FlowId{"agent_run", run};
    request.subject = step;
    request.arguments = arguments;
    request.by = "ann";
    world_.requests.add(request);
  }

  void person(const std::string& run, bool well) {
    const Json state = accepted(run);
    const bool approves = well || !random_.one_in(3);
    if (status(state) == "FAILED" && approves)
      request("retry", run, "");
    // A file may also come before anybody asks.
    const bool waits = status(state, "ask") == "WAITING_ON_HUMAN";
    if (waits && (well || random_.one_in(2)))
      request(approves ? "approve" : "reject", run, "ask");
    else if (!well && (waits || random_.one_in(6)))
      world_.disk.write(folder(run) + "/manual_inputs/" + run + "__ask.json",
                        approves ? R"({"approved": true})" : R"({"decision": "reject"})");
  }

  /// Another program with an old copy, or half of one.
  void somebody(const std::string& run) {
    const std::string* const now = world_.disk.file(state_path(run));
    if (now == nullptr)
      return;
    std::string& old = copies_[run];
    if (old.empty() || random_.one_in(3))
      old = *now;
    else if (random_.one_in(2))
      world_.disk.write(state_path(run), old);
    else
      world_.disk.write(state_path(run), old.substr(0, old.size() / 2));
  }

  /// What was left torn is a person's to put right.
  void repair(const std::string& run) {
    const std::string* const bytes = world_.disk.file(state_path(run));
    const auto row = world_.journal.tables.accepted.find(state_path(run));
    if (bytes != nullptr && !parse_json(*bytes) && row != world_.journal.tables.accepted.end())
      world_.disk.write(state_path(run), row->second.second);
  }

  // --- what happens

  void event() {
    const auto running = world_.agents.in(FakeAgents::State::running);
    const std::string& run = random_.pick(all_runs);
    repair(run);
    if (random_.one_in(3))
      world_.fuse.light(1 + random_.below(40));
    const std::size_t what = random_.below(12);
    if (what < 7) {
      if (!running.empty())
        work(*random_.pick(running), false);
    } else if (what < 9) {
      person(run, false);
    } else if (what == 9) {
      somebody(run);
    } else if (what == 10) {
      pass(Millis(4000));
      look_around();
    } else if (random_.one_in(3)) {
      world_.fuse.cut();
      world_.power_cut();
      restart();
    }
    if (random_.one_in(6))
      world_.disk.changes.clear();
    settle();
    if (random_.one_in(8)) {
      world_.kill();
      restart();
    }
  }

  void restart() {
    if (const auto started = world_.start(); !started)
      say("the daemon does not start: " + describe(started.error()));
    else
      settle();
  }

  void rest() {
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running))
      work(*shim, true);
    for (const std::string& run : all_runs)
      repair(run);
    settle();
    for (const std::string& run : all_runs)
      person(run, true);
    settle();
    pass(Millis(4000));
    look_around();
    check();
  }

  // --- what must hold

  void check() {
    for (const std::string& broken : world_.faults())
      say(broken);
    std::set<std::string> busy;
    for (const auto state : {FakeAgents::State::running, FakeAgents::State::going})
      for (const Shim* const shim : world_.agents.in(state))
        if (!busy.insert(shim->launch.key.flow.name + "/" + shim->launch.key.subject).second)
          say("two agents work on " + *busy.rbegin());
    for (const std::string& run : all_runs)
      for (const std::string& step : all_steps)
        check(run, step);
    const auto& events = world_.journal.tables.events;
    for (; told_ < events.size(); ++told_)
      check(events[told_]);
  }

  /// The newest start of a step that was none of the void ones; nullptr when there is none.
  template <class Wanted>
  const Run* last(const std::string& run, const std::string& step, Wanted wanted) const {
    const auto& runs = world_.journal.tables.runs;
    const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const Run& each) {
      return each.key.flow.name == run && each.key.subject == step &&
             each.outcome != Outcome::voided && wanted(each);
    });
    return found == runs.rend() ? nullptr : &*found;
  }

  /// A report that lies there is found, whichever events were lost.
  void check(const Event& event) {
    const Run* const ended =
        last(event.flow.name, event.subject, [](const Run& run) { return !run.live(); });
    if ((event.event == "attempt_failed" || event.event == "step_failed") &&
        event.why.find("without a report") != std::string::npos && ended != nullptr &&
        reported_.contains(ended->id))
      say("the report of " + ended->id + " was not found: " + event.why);
  }

  /// What a step is done by, is what its last start has made; and counts never fall.
  void check(const std::string& run, const std::string& step) {
    const Json state = accepted(run);
    const Value* const record = json::at(*state, "/steps/" + step);
    if (record == nullptr)
      return say(run + " has no step " + step);
    const std::array counts = {json::integer(*record, "iteration_count").value_or(-1),
                               json::integer(*record, "executions").value_or(-1)};
    auto& before = counts_[run + "/" + step];
    if (counts[0] < before[0] || counts[1] < before[1] - 1)  // a start that was void is none
      say("the counts of " + run + "/" + step + " fell");
    before = counts;
    if (status(state, step) != "COMPLETED")
      return;
    const Value* const made = json::child(*record, "artifacts");
    const Run* const start = last(run, step, [](const Run&) { return true; });
    const rapidjson::SizeType items = step == "items" ? 2 : 1;
    if (start == nullptr || made == nullptr || made->Size() != items ||
        json::text((*made)[items - 1]) != "x/" + start->id)
      say(run + "/" + step +
          " is done by what its last start has not made: " + json::dump(*record));
  }

  void at_rest() {
    for (const std::string& run : all_runs) {
      const Json state = accepted(run);
      if (status(state) != "COMPLETED")
        say(run + " is " + status(state) + " at the end: " + state.dump());
      const std::string* const bytes = world_.disk.file(state_path(run));
      if (bytes == nullptr || !parse_json(*bytes) || !json::equal(**parse_json(*bytes), *state))
        say(run + " is not what its file says");
      for (const std::string& step : all_steps)
        check_counts(run, step, *state);
      check_people(run);
    }
    if (!world_.agents.in(FakeAgents::State::running).empty())
      say("an agent is at work when all is done");
  }

  /// Each start was counted once.
  void check_counts(const std::string& run, const std::string& step, const Value& state) {
    std::set<std::uint64_t> starts;
    for (const Run& each : world_.journal.tables.runs)
      if (each.key.flow.name == run && each.key.subject == step && each.outcome != Outcome::voided)
        starts.insert(each.key.generation);
    const auto counted = json::integer(*json::at(state, "/steps/" + step), "executions");
    if (counted != static_cast<std::int64_t>(starts.size()))
      say(run + "/" + step + " counts " + std::to_string(counted.value_or(-1)) + " starts of " +
          std::to_string(starts.size()));
  }

  /// Nothing passes a person but by a yes.
  void check_people(const std::string& run) {
    Word last;
    for (const Event& event : world_.journal.tables.events)
      if (event.flow.name == run && event.subject == "ask" &&
          (event.event == "approved" || event.event == "rejected"))
        last = event.event;
    if (last != "approved")
      say(run + " is done, and nobody has approved it");
  }

  Random random_;
  World world_;
  std::map<std::string, std::string> copies_;
  std::map<std::string, std::array<std::int64_t, 2>> counts_;
  std::set<RunId> reported_;  ///< starts that left a good report and went in order
  std::size_t told_ = 0;      ///< events that were looked at
  std::string fault_;
  int asked_ = 0;
};

}  // namespace

TEST_SUITE("agent_run") {
  TEST_CASE("in any world each start counts once, no old report counts, and a run is completed") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(seed);
      CHECK(Flows(seed, "").live() == "");
    }
  }

  TEST_CASE("the worlds catch a dialect and a protocol without one of their pieces") {
    for (const std::string_view mutant : all_mutants) {
      CAPTURE(mutant);
      bool caught = false;
      for (std::uint64_t seed = 1; seed <= kMutantSeeds && !caught; ++seed)
        caught = !Flows(seed, mutant).live().empty();
      CHECK(caught);
    }
  }
}

}  // namespace baton::testing
