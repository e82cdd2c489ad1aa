// SPDX-License-Identifier: Apache-2.0

// Loops in a seeded world: executors that write the whole state from the copy they began with, also
// when they are told to end, renew it without work, fail, do nothing, tear the file or are killed;
// a dashboard that overwrites the status; persons who start, pause, resume and stop; events
// dropped, disks full, the daemon killed between any two port calls, power cuts.
//
// A word of a person that was answered holds until the next one: nothing is started and nothing an
// executor writes changes it. What was completed stays so, iterations are counted once for each
// work key, failures noted once for each run. When the trouble ends, what nobody has halted comes
// to its end. Each mutant must be caught.

#include <algorithm>
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

#include "base/digest.h"
#include "config/registry.h"
#include "seeded_world.h"

namespace baton::testing {
namespace {

constexpr int kSteps = 120;
constexpr int kRounds = 400;
const std::vector<std::string> all_loops = {"loop-v2-a", "loop-v2-b"};

std::string path_of(const std::string& loop) {
  return ".workflow/.loop/" + loop + ".json";
}

std::string fresh(const std::string& loop) {
  return R"({"loop_id": ")" + loop +
         R"(", "title": "t", "description": "", "max_iterations": 1000, "status": "created",
             "current_iteration": 0, "created_at": "2026-01-22T10:00:00Z",
             "updated_at": "2026-01-22T10:00:00Z", "skill_state": null})";
}

constexpr const char* kSkill = R"({"current_action": null, "last_action": null,
  "completed_actions": [], "mode": "auto", "develop": {"total": 3, "completed": 0, "tasks": [
    {"id": "t1", "description": "a", "status": "pending"},
    {"id": "t2", "description": "b", "status": "pending"},
    {"id": "t3", "description": "c", "status": "pending"}], "last_progress_at": null},
  "debug": {"hypotheses_count": 0, "hypotheses": [], "confirmed_hypothesis": null, "iteration": 0,
            "last_analysis_at": null},
  "validate": {"pass_rate": 0, "coverage": 0, "test_results": [], "passed": false,
               "failed_tests": [], "last_run_at": null}, "errors": []})";

struct Counts {
  FlowIndex flow_index;
  std::uint64_t starts = 0;
  std::uint64_t merges = 0;
};

// ---- mutants of the dialect

const std::vector<std::string_view> all_mutants = {"accepts_all", "forgets", "lets_run",
                                                   "starts_always", "left_at_once"};

const Dialect& real() {
  return *dialect("ccw_loop");
}

Decision forgetting(const View& view) {
  const Json nothing;
  Decision decision = real().decide(with(view, view.docs, nothing, view.options));
  decision.memo = Json();
  return decision;
}

Decision letting_run(const View& view) {
  Decision decision = real().decide(view);
  decision.control = Control::run;
  decision.end_at.reset();
  decision.releases.clear();
  return decision;
}

Decision starting_always(const View& view) {
  FlowState docs = view.docs;
  for (auto& [path, accepted] : docs) {
    if (accepted.kind != "state" || accepted.document == nullptr)
      continue;
    auto text = json::splice(accepted.document->text(), {{"/status", "\"running\""}});
    if (auto document = load_document(std::move(*text), Format::json))
      accepted.document = *document;
  }
  const Decision as_if = real().decide(with(view, docs, view.memo, view.options));
  Decision decision = real().decide(view);
  if (decision.desired.empty())
    decision.desired = as_if.desired;
  if (decision.control == Control::pause)
    decision.control = Control::run;
  return decision;
}

Admission left_at_once(const View& view, const Change& change) {
  const Json memo = Json(view.memo).set("left", true);
  return real().admit(with(view, view.docs, memo, view.options), change);
}

Admission accepting_all(const View& /*view*/, const Change& /*change*/) {
  return {};
}

/// The dialect without a piece; the real one for all other words.
const Dialect& mutated(std::string_view mutant) {
  static const std::map<std::string_view, Dialect> all = [] {
    std::map<std::string_view, Dialect> made;
    made.emplace("accepts_all", real()).first->second.admit = accepting_all;
    made.emplace("left_at_once", real()).first->second.admit = left_at_once;
    made.emplace("forgets", real()).first->second.decide = forgetting;
    made.emplace("lets_run", real()).first->second.decide = letting_run;
    made.emplace("starts_always", real()).first->second.decide = starting_always;
    return made;
  }();
  const auto found = all.find(mutant);
  return found == all.end() ? real() : found->second;
}

// ---- the world

/// What a person wants of a loop, as baton has answered it. `unclear`: a dashboard wrote, and it is
/// open what comes of that.
enum class Wish { run, paused, stopped, unclear };

struct NotifiedState {
  Wish wish = Wish::paused;
  std::size_t runs = 0;  ///< when it was told
  std::int64_t iteration = 0;
  std::set<std::string> done;  ///< tasks
  std::string dashed;          ///< what a dashboard wrote last
  bool may_stop = false;  ///< a dashboard wrote a stop, and copies of that may come at any time
};

class Loops {
 public:
  Loops(std::uint64_t seed, std::string_view mutant, Counts& counts, bool tracing)
      : chance_(seed, mutant, counts.flow_index), counts_(counts), tracing_(tracing) {
    auto setup = setup_of(*parse_json(R"({"granularity": "action", "pause_grace": "5s",
        "agents": {"executor": {"max_attempts": 5}}, "on_interrupted": "retry",
        "limits": {"backoff": "1s", "max_backoff": "2s", "spawns_per_hour": 100000}})"),
                          "ccw_loop");
    if (!setup) {
      say(describe(setup.error()));
      return;
    }
    world_.setup = std::move(*setup);
    world_.setup.dialects.front().first = &mutated(mutant);
  }

  std::optional<Fault> run() {
    chance_.guarded([&] { return world_.start(); });
    for (const std::string& loop : all_loops) {
      world_.disk.write(path_of(loop), fresh(loop));
      told_[loop];
      request("start", loop);
    }
    for (chance_.step = 1; chance_.step <= kSteps && !chance_.fault; ++chance_.step) {
      happen();
      deliver();
      check();
      trace();
    }
    for (int round = 0; round < kRounds && !chance_.fault && (round < 3 || !over()); ++round)
      rest();
    if (!chance_.fault)
      at_rest();
    trace();
    for (const auto& [id, shim] : world_.agents.shims)
      counts_.starts += shim.claim ? 1U : 0U;
    for (const Event& event : world_.journal.tables.events)
      counts_.merges += event.event == "merged" ? 1U : 0U;
    return chance_.fault;
  }

 private:
  using Shim = FakeAgents::Shim;

  void say(std::string what) { chance_.say(std::move(what)); }

  void trace() {
    if (!tracing_)
      return;
    std::printf("--- step %llu%s\n", static_cast<unsigned long long>(chance_.step),
                world_.engine == nullptr ? ", no daemon" : "");
    for (const Event& event : std::exchange(world_.observer.events, {}))
      std::printf("  %s %s %s: %s\n", event.event.c_str(), event.flow.name.c_str(),
                  event.run.substr(0, 8).c_str(), event.why.c_str());
    for (const std::string& loop : all_loops)
      if (const std::string* const bytes = world_.disk.file(path_of(loop)))
        std::printf("    %s\n", bytes->c_str());
  }

  // ---- what is there ----------------------------------------------------------------------------

  /// As baton has accepted it last; null before.
  Json accepted(const std::string& loop) {
    const auto row = world_.journal.tables.accepted.find(path_of(loop));
    return row == world_.journal.tables.accepted.end() ? Json() : *parse_json(row->second.second);
  }

  std::string status(const std::string& loop) {
    const Json state = accepted(loop);
    return std::string(json::text(*state, "status").value_or(""));
  }

  /// As it stands in the file, or as it was when it was whole last.
  std::string text(const std::string& loop) {
    const std::string* const bytes = world_.disk.file(path_of(loop));
    return bytes != nullptr && parse_json(*bytes) ? *bytes : accepted(loop).dump();
  }

  /// Starts of the loop that were not taken back.
  std::size_t runs(const std::string& loop) const {
    const auto& all = world_.journal.tables.runs;
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Run& run) {
      return run.key.flow.name == loop && run.outcome != Outcome::voided;
    }));
  }

  std::string stamp() {
    ++ticks_;
    return json::quote(iso_time(*parse_time("2026-01-22T10:00:00Z") + Millis(1000) * ticks_));
  }

  // ---- what executors do ------------------------------------------------------------------------

  static std::string action(const Shim& shim) {
    for (const auto& [name, value] : shim.launch.env)
      if (name == "CCW_LOOP_ACTION")
        return value;
    return "";
  }

  /// The copy an executor read when it began, and writes from ever after.
  const std::string& copy_of(const Shim& shim) {
    return copies_.emplace(shim.id, text(shim.launch.key.flow.name)).first->second;
  }

  void read_copies() {
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running))
      (void)copy_of(*shim);
  }

  std::vector<json::Edit> work_on(const Json& copy, const std::string& what, bool well) {
    const std::string now = stamp();
    std::vector<json::Edit> edits = {{"/updated_at", now}};
    if (what == "init") {
      edits.push_back({"/skill_state", kSkill});
    } else if (what == "develop") {
      for (int i = 0; i < 3; ++i) {
        const std::string task = "/skill_state/develop/tasks/" + std::to_string(i) + "/status";
        const Value* const stands = json::at(*copy, task);
        if (stands == nullptr || json::text(*stands) == "completed")
          continue;
        edits.push_back({task, "\"completed\""});
        break;
      }
      edits.push_back({"/skill_state/develop/last_progress_at", now});
    } else if (what == "debug") {
      edits.push_back(
          {"/skill_state/debug/hypotheses",
           R"([{"id": "H1", "description": "h", "status": "confirmed", "evidence": {}}])"});
      edits.push_back({"/skill_state/debug/confirmed_hypothesis", "\"H1\""});
      edits.push_back({"/skill_state/debug/last_analysis_at", now});
    } else if (what == "validate") {
      const bool passed = well || !random_.one_in(3);
      edits.push_back({"/skill_state/validate/passed", passed ? "true" : "false"});
      edits.push_back({"/skill_state/validate/failed_tests", passed ? "[]" : R"(["x"])"});
      edits.push_back({"/skill_state/validate/last_run_at", now});
    } else if (what == "complete") {
      edits.push_back({"/skill_state/last_action", "\"COMPLETE\""});
      edits.push_back({"/status", "\"completed\""});
      edits.push_back({"/completed_at", now});
    }
    return edits;
  }

  void write(const Shim& shim, const std::vector<json::Edit>& edits, bool well) {
    const std::string path = path_of(shim.launch.key.flow.name);
    const auto written = json::splice(copy_of(shim), edits);
    if (!written)
      return;
    copies_[shim.id] = *written;
    if (!well && random_.one_in(8))
      world_.disk.write(path, written->substr(0, written->size() / 2));  // the rest comes later
    else
      world_.disk.write(path, *written);
  }

  void finish(const Shim& shim, Outcome outcome) {
    RunEnd end;
    end.outcome = shim.stopping ? Outcome::interrupted : outcome;
    end.signal = shim.stopping ? 15 : 0;
    end.exit_code = outcome == Outcome::succeeded ? 0 : 1;
    world_.agents.finish(shim.id, end);
  }

  void execute(const Shim& shim, bool well) {
    const Json copy = *parse_json(copy_of(shim));
    switch (well ? 9 : random_.below(10)) {
      case 0:  // it renews the file from its copy, without work, and goes on
        return write(shim, {{"/updated_at", stamp()}}, well);
      case 1:
        return write(shim, {}, well);
      case 2:
        return write(shim, {{"/skill_state/current_action", "\"develop\""}}, well);
      case 3:
        return finish(shim, Outcome::failed);
      case 4:
        return random_.one_in(2) ? world_.agents.kill_shim(shim.id)
                                 : finish(shim, Outcome::succeeded);  // nothing was done
      case 5:  // all of the work, and it does not leave
        return write(shim, work_on(copy, action(shim), well), well);
      default:
        write(shim, work_on(copy, action(shim), well), well);
        finish(shim, Outcome::succeeded);
    }
  }

  // ---- what others do ---------------------------------------------------------------------------

  void request(const Word& verb, const std::string& loop, const Json& arguments = Json::object()) {
    Request request;
    request.id = "request-" + std::to_string(1000 + asked_.size());
    request.verb = verb;
    request.flow = FlowId{"ccw_loop", loop};
    request.arguments = arguments;
    request.made = world_.clock.at;
    asked_.emplace_back(verb, loop);
    world_.requests.add(request);
  }

  void person() {
    static const std::vector<Word> verbs = {"pause",  "pause", "resume", "resume",
                                            "resume", "retry", "stop",   "start"};
    const Word verb = random_.pick(verbs);
    const std::string& loop = random_.pick(all_loops);
    if (verb == "stop" && !random_.one_in(3))
      return;
    request(verb, loop,
            verb == "start" && random_.one_in(4)
                ? Json::object({{"set", Json::object({{"force", true}})}})
                : Json::object());
  }

  void dashboard() {
    static const std::vector<std::string> words = {"running", "paused", "failed", "created"};
    const std::string& loop = random_.pick(all_loops);
    const std::string& status = random_.pick(words);
    std::vector<json::Edit> edits = {{"/status", json::quote(status)}};
    if (random_.one_in(2))
      edits.push_back({"/updated_at", stamp()});
    const auto written = json::splice(text(loop), edits);
    if (!written)
      return;
    world_.disk.write(path_of(loop), *written);
    told_[loop].wish = Wish::unclear;
    told_[loop].dashed = *written;
    told_[loop].may_stop = told_[loop].may_stop || status == "failed";
  }

  /// Which loops have a dashboard's word that baton has not looked at. What is answered while one
  /// stands there comes before it or after it, and nobody can tell.
  void look_for_unseen() {
    unseen_.clear();
    for (const std::string& loop : all_loops) {
      const std::string* const bytes = world_.disk.file(path_of(loop));
      const auto row = world_.journal.tables.accepted.find(path_of(loop));
      const auto refused = world_.journal.tables.rejected.find(path_of(loop));
      if (bytes != nullptr && *bytes == told_[loop].dashed &&
          (row == world_.journal.tables.accepted.end() || row->second.second != *bytes) &&
          (refused == world_.journal.tables.rejected.end() ||
           refused->second.digest != digest_of(*bytes)))
        unseen_.insert(loop);
    }
  }

  void trouble() {
    world_.disk.full = random_.one_in(4);
    world_.journal.fails.reset();
    if (random_.one_in(4))
      world_.journal.fails = Errc::no_space;
    world_.agents.claim_delay = Millis(random_.one_in(2) ? 0 : random_.below(1500));
  }

  void happen() {
    read_copies();
    const auto running = world_.agents.in(FakeAgents::State::running);
    const std::size_t what = random_.below(16);
    if (what < 7) {
      if (!running.empty())
        execute(*random_.pick(running), false);
    } else if (what < 9) {
      person();
    } else if (what == 9) {
      if (random_.one_in(4))
        dashboard();
    } else if (what == 10) {
      trouble();
    } else if (what < 13) {
      world_.fuse.light(1 + random_.below(24));
    } else if (what == 13 && random_.one_in(6)) {
      chance_.power_cut();
    } else {
      world_.clock.advance(Millis(random_.below(3000)));
    }
    world_.agents.tick();
    read_copies();
  }

  // ---- the daemon -------------------------------------------------------------------------------

  void deliver() {
    look_for_unseen();
    chance_.deliver();
    read_copies();
  }

  // ---- what must hold ---------------------------------------------------------------------------

  /// The answers in their order, as the journal holds them: what is wanted now.
  void listen() {
    for (const auto& [id, reply] : world_.journal.tables.replies) {
      const auto number = static_cast<std::size_t>(std::stoul(id.substr(8))) - 1000;
      const auto& [verb, loop] = asked_.at(number);
      if (!heard_.insert(id).second || !reply.accepted || status(loop) == "completed")
        continue;
      NotifiedState& notified = told_[loop];
      if (unseen_.contains(loop))
        notified.wish = Wish::unclear;
      else if (verb == "stop")
        notified.wish = Wish::stopped;
      else if (verb == "pause")
        notified.wish = Wish::paused;
      else if (verb != "retry" || status(loop) == "running")
        notified.wish =
            notified.wish == Wish::unclear && verb == "retry" ? Wish::unclear : Wish::run;
      notified.runs = runs(loop);
    }
  }

  void check() {
    listen();
    chance_.check();
    std::map<std::string, int> alive;
    for (const auto state : {FakeAgents::State::running, FakeAgents::State::going})
      for (const Shim* const shim : world_.agents.in(state))
        if (++alive[shim->launch.key.flow.name] > 1)
          say("two executors work on " + shim->launch.key.flow.name);
    for (const std::string& loop : all_loops)
      check(loop, told_[loop]);
  }

  void check(const std::string& loop, NotifiedState& notified) {
    const Json state = accepted(loop);
    if (state.is_null())
      return;
    const std::string now = status(loop);
    if (notified.may_stop && now == "failed" && notified.wish != Wish::stopped)
      notified.wish = Wish::unclear;  // a stop is never undone, and an executor may carry it along
    if (notified.wish == Wish::paused && now != "paused" && now != "created")
      say(loop + " was paused, and is " + now);
    if (notified.wish == Wish::stopped && now != "failed")
      say(loop + " was stopped, and is " + now);
    if ((notified.wish == Wish::paused || notified.wish == Wish::stopped) &&
        runs(loop) > notified.runs)
      say(loop + " was halted, and an executor was started");
    const auto iteration = json::integer(*state, "current_iteration").value_or(-1);
    if (iteration < notified.iteration)
      say("the iterations of " + loop + " fell to " + std::to_string(iteration));
    notified.iteration = iteration;
    check_done(loop, *state, notified);
    check_errors(loop, *state, false);
  }

  /// A task that was completed once stays so.
  void check_done(const std::string& loop, const Value& state, NotifiedState& notified) {
    std::set<std::string> done;
    const Value* const tasks = json::at(state, "/skill_state/develop/tasks");
    for (rapidjson::SizeType i = 0; tasks != nullptr && i < tasks->Size(); ++i)
      if (json::text((*tasks)[i], "status") == "completed")
        done.emplace(json::text((*tasks)[i], "id").value_or(""));
    if (!std::includes(done.begin(), done.end(), notified.done.begin(), notified.done.end()))
      say("work on " + loop + " that was accepted is lost");
    notified.done = std::move(done);
  }

  /// A failed run is noted once; at rest each is.
  void check_errors(const std::string& loop, const Value& state, bool all) {
    const Value* const errors = json::at(state, "/skill_state/errors");
    if (errors == nullptr)
      return;
    for (const Run& run : world_.journal.tables.runs) {
      const bool failed = run.key.flow.name == loop && !run.live() &&
                          (run.outcome == Outcome::failed || run.outcome == Outcome::unknown);
      const std::string name = "run " + run.id.substr(0, 8);
      const auto noted = std::count_if(errors->Begin(), errors->End(), [&](const Value& error) {
        return json::text(error, "message").value_or("").find(name) != std::string_view::npos;
      });
      if (noted > 1 || (noted == 1 && !failed && run.outcome != Outcome::interrupted))
        say("the end of " + name + " is noted wrongly on " + loop);
      if (all && failed && noted == 0)
        say("the failure of " + name + " is not noted on " + loop);
    }
  }

  // ---- the end ----------------------------------------------------------------------------------

  bool as_wished(const std::string& loop) {
    const Wish wish = told_[loop].wish;
    return status(loop) == (wish == Wish::paused    ? "paused"
                            : wish == Wish::stopped ? "failed"
                                                    : "completed");
  }

  bool over() {
    return std::all_of(all_loops.begin(), all_loops.end(),
                       [&](const std::string& loop) { return as_wished(loop); }) &&
           world_.agents.in(FakeAgents::State::running).empty() &&
           world_.agents.in(FakeAgents::State::going).empty() && world_.engine != nullptr &&
           world_.requests.waiting.empty();
  }

  /// All trouble ends; executors do what they should; persons want their loops to go on, but for
  /// those they have halted.
  void rest() {
    world_.fuse.cut();
    world_.disk.full = false;
    world_.journal.fails.reset();
    world_.agents.claim_delay = Millis(0);
    look_for_unseen();
    if (world_.engine == nullptr)
      chance_.guarded([&] { return world_.start(); });
    repair();
    chance_.guarded([&] { return world_.engine->step({Rescan{"overflow"}}); });
    if (std::exchange(troubled_, false))
      halts_are_heard();
    read_copies();
    for (Shim* const shim : world_.agents.in(FakeAgents::State::running))
      execute(*shim, true);
    chance_.guarded([&] { return world_.settle(); });
    for (const std::string& loop : all_loops) {
      const Wish wish = told_[loop].wish;
      const std::string now = status(loop);
      if (wish == Wish::unclear)
        request(now == "created" ? "start" : now == "failed" ? "stop" : "pause", loop);
      else if (wish == Wish::run && now != "running" && now != "completed")
        request(now == "failed" ? "retry" : "start", loop);
      else if (wish == Wish::run && now == "running" && ++waited_ % 8 == 0)
        request(disputed(loop) ? "resume" : "retry", loop);
    }
    chance_.guarded([&] { return world_.settle(); });
    chance_.guarded([&] { return world_.pass(Millis(3000)); });
    check();
  }

  /// Executors of halted loops that hang have been ended when the grace is over.
  void halts_are_heard() {
    chance_.guarded([&] { return world_.settle(); });
    chance_.guarded([&] { return world_.pass(Millis(15'000)); });
    listen();
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running)) {
      const std::string& loop = shim->launch.key.flow.name;
      const Wish wish = told_[loop].wish;
      if ((wish == Wish::paused || wish == Wish::stopped) && status(loop) != "created")
        say(loop + " was halted, and its executor goes on");
    }
  }

  bool disputed(const std::string& loop) const {
    const auto& records = world_.engine->records();
    const auto record = records.find(FlowId{"ccw_loop", loop});
    return record != records.end() && record->second.control.reason == kWriteConflict;
  }

  /// What was left torn is nobody's but a person's to put right.
  void repair() {
    for (const std::string& loop : all_loops)
      if (const std::string* const bytes = world_.disk.file(path_of(loop));
          bytes != nullptr && !parse_json(*bytes) && !accepted(loop).is_null())
        world_.disk.write(path_of(loop), world_.journal.tables.accepted.at(path_of(loop)).second);
  }

  void at_rest() {
    for (const std::string& loop : all_loops) {
      const Json state = accepted(loop);
      if (!as_wished(loop))
        say(loop + " is " + status(loop) + " at the end");
      const auto row = world_.journal.tables.accepted.find(path_of(loop));
      const std::string* const bytes = world_.disk.file(path_of(loop));
      if (row == world_.journal.tables.accepted.end() || bytes == nullptr ||
          row->second.second != *bytes)
        say(loop + " is not what baton takes it for");
      check_errors(loop, *state, true);
      std::set<std::pair<std::uint64_t, std::uint32_t>> counted;
      for (const Run& run : world_.journal.tables.runs)
        if (run.key.flow.name == loop &&
            (run.purpose == "develop" || run.purpose == "debug" || run.purpose == "validate"))
          counted.emplace(run.key.generation, run.key.turn);
      const auto iteration = json::integer(*state, "current_iteration").value_or(-1);
      if (iteration != static_cast<std::int64_t>(counted.size()))
        say(loop + " counts " + std::to_string(iteration) + " iterations of " +
            std::to_string(counted.size()));
    }
    if (!over())
      say("executors or requests are left at the end");
  }

  SeededWorld chance_;
  World& world_ = chance_.world;
  Random& random_ = chance_.random;
  Counts& counts_;
  bool tracing_;
  std::map<RunId, std::string> copies_;
  std::map<std::string, NotifiedState> told_;
  std::vector<std::pair<Word, std::string>> asked_;
  std::set<std::string> heard_;
  std::set<std::string> unseen_;  ///< when the daemon was called last
  int ticks_ = 0;
  int waited_ = 0;
  bool troubled_ = true;
};

int simulate(const std::vector<std::string>& words) {
  Counts counts;
  Sweep all;
  all.program = "baton_loop_simulation";
  all.mutants = protocol_mutants();
  all.mutants.insert(all.mutants.end(), all_mutants.begin(), all_mutants.end());
  all.trial = [&](std::uint64_t seed, std::string_view mutant, bool trace) {
    return Loops(seed, mutant, counts, trace).run();
  };
  all.summary = [&] {
    return std::to_string(counts.flow_index.worlds) + " worlds, " + std::to_string(counts.starts) +
           " starts, " + std::to_string(counts.flow_index.crashes) + " crashes, " +
           std::to_string(counts.flow_index.power_cuts) + " power cuts, " +
           std::to_string(counts.merges) + " merges";
  };
  return sweep(all, words);
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
