// Loops in a seeded world: executors that write the whole state from the copy they began with,
// fail, do nothing or tear the file; a dashboard that overwrites the status; events that are lost;
// a daemon that is killed anywhere. A failing seed is printed; it gives the same world again.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "world.h"

namespace baton::testing {
namespace {

constexpr std::uint64_t kSeeds = 100;
constexpr int kEvents = 40;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % n;
  }

 private:
  std::uint64_t state_;
};

std::string path_of(const std::string& loop) {
  return ".workflow/.loop/" + loop + ".json";
}

std::string fresh(const std::string& loop) {
  return R"({"loop_id": ")" + loop +
         R"(", "title": "t", "description": "", "max_iterations": 50, "status": "running",
             "current_iteration": 0, "created_at": "2026-01-22T10:00:00Z",
             "updated_at": "2026-01-22T10:00:00Z", "skill_state": null})";
}

constexpr const char* kSkill = R"({"current_action": null, "last_action": null,
  "completed_actions": [], "mode": "auto", "develop": {"total": 2, "completed": 0, "tasks": [
    {"id": "t1", "description": "a", "status": "pending"},
    {"id": "t2", "description": "b", "status": "pending"}], "last_progress_at": null},
  "debug": {"hypotheses_count": 0, "hypotheses": [], "confirmed_hypothesis": null, "iteration": 0,
            "last_analysis_at": null},
  "validate": {"pass_rate": 0, "coverage": 0, "test_results": [], "passed": false,
               "failed_tests": [], "last_run_at": null}, "errors": []})";

/// What a person wants of a loop, as baton has acknowledged it.
enum class Wish { run, paused, stopped };

class Loops {
 public:
  explicit Loops(std::uint64_t seed) : random_(seed) {
    const auto config = parse_json(
        R"({"granularity": "action", "agents": {"executor": {"max_attempts": 9}},
            "limits": {"backoff": "1s", "max_backoff": "2s", "spawns_per_hour": 100000}})");
    auto setup = setup_of(*config, "ccw_loop");
    REQUIRE(setup);
    world_.setup = std::move(*setup);
    REQUIRE(world_.start());
    for (const std::string& loop : names_)
      world_.disk.write(path_of(loop), fresh(loop));
    settle();
  }

  void live() {
    for (int i = 0; i < kEvents; ++i) {
      event();
      check();
    }
  }

  /// Everybody does what he should from now on: what nobody has halted comes to its end.
  void rest() {
    for (int i = 0; i < 60; ++i) {
      for (FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running))
        work(*shim);
      settle();
      pass(Millis(61'000));
      check();
    }
    for (const std::string& loop : names_) {
      CAPTURE(loop);
      CAPTURE(*world_.disk.file(path_of(loop)));
      const std::string now = status(loop);
      switch (wishes_[loop]) {
        case Wish::run:
          CHECK((now == "completed" || now == "paused"));
          break;
        case Wish::paused:
          CHECK(now == "paused");
          break;
        case Wish::stopped:
          CHECK(now == "failed");
          break;
      }
    }
    CHECK(world_.agents.in(FakeAgents::State::running).empty());
  }

 private:
  void settle() {
    const auto settled = world_.survive();
    REQUIRE_MESSAGE(settled, (settled ? "" : describe(settled.error())));
  }

  void pass(Millis by) {
    world_.fuse.cut();
    const auto passed = world_.pass(by);
    REQUIRE(passed.has_value());
  }

  std::string status(const std::string& loop) {
    auto parsed = parse_json(*world_.disk.file(path_of(loop)));
    return parsed ? std::string(json::text(**parsed, "status").value_or("")) : "torn";
  }

  std::string stamp() {
    ++ticks_;
    return iso_time(*parse_time("2026-01-22T10:00:00Z") + Millis(1000) * ticks_);
  }

  static std::string purpose(const FakeAgents::Shim& shim) {
    for (const auto& [name, value] : shim.launch.env)
      if (name == "CCW_LOOP_ACTION")
        return value;
    return "";
  }

  /// The copy an executor works on: the file as it was when it began, also where that is old.
  std::string copy_of(const FakeAgents::Shim& shim) {
    const std::string& now = *world_.disk.file(path_of(shim.launch.key.flow.name));
    auto& copy = copies_[shim.id];
    if (copy.empty() || !parse_json(copy))
      copy = now;
    return copy;
  }

  void work(const FakeAgents::Shim& shim) {
    const std::string loop = shim.launch.key.flow.name;
    const std::string copy = copy_of(shim);
    const std::string action = purpose(shim);
    const std::string now = json::quote(stamp());
    std::vector<json::Edit> edits = {{"/updated_at", now}};
    if (action == "init")
      edits.push_back({"/skill_state", kSkill});
    if (action == "develop") {
      const auto state = parse_json(copy);
      const Value* const first =
          state ? json::at(**state, "/skill_state/develop/tasks/0/status") : nullptr;
      const bool begun = first != nullptr && json::text(*first) == "completed";
      edits.push_back(
          {begun ? "/skill_state/develop/tasks/1/status" : "/skill_state/develop/tasks/0/status",
           "\"completed\""});
      edits.push_back({"/skill_state/develop/last_progress_at", now});
    }
    if (action == "validate") {
      edits.push_back({"/skill_state/validate/passed", "true"});
      edits.push_back({"/skill_state/validate/last_run_at", now});
    }
    if (action == "complete") {
      edits.push_back({"/skill_state/last_action", "\"COMPLETE\""});
      edits.push_back({"/status", "\"completed\""});
      edits.push_back({"/completed_at", now});
    }
    if (auto text = json::splice(copy, edits))
      world_.disk.write(path_of(loop), *text);
    world_.leave(shim, 0);
  }

  void request(const std::string& verb, const std::string& loop) {
    Request request;
    request.id = "request-" + std::to_string(1000 + asked_++);
    request.verb = verb;
    request.flow = FlowId{"ccw_loop", loop};
    request.arguments = Json::object();
    const std::size_t answered = world_.requests.answers.size();
    world_.requests.add(request);
    settle();
    REQUIRE(world_.requests.answers.size() > answered);
    if (!world_.requests.answers.back().accepted)
      return;
    const bool ended = status(loop) == "completed";
    if (verb == "stop" && !ended)
      wishes_[loop] = Wish::stopped;
    if (verb == "pause")
      wishes_[loop] = Wish::paused;
    if (verb == "resume")
      wishes_[loop] = Wish::run;
    starts_[loop] = started(loop);
  }

  std::size_t started(const std::string& loop) {
    std::size_t count = 0;
    for (const auto& [id, shim] : world_.agents.shims)
      count += shim.launch.key.flow.name == loop && shim.claim ? 1U : 0U;
    return count;
  }

  void event() {
    const std::string loop = names_.at(random_.below(names_.size()));
    FakeAgents::Shim* shim = nullptr;
    for (FakeAgents::Shim* const each : world_.agents.in(FakeAgents::State::running)) {
      (void)copy_of(*each);
      if (each->launch.key.flow.name == loop)
        shim = each;
    }
    if (random_.below(4) == 0)
      world_.fuse.light(1 + random_.below(40));
    switch (random_.below(12)) {
      case 0:
        return request("pause", loop);
      case 1:
      case 2:
        return request("resume", loop);
      case 3:
        if (random_.below(4) == 0)
          return request("stop", loop);
        break;
      case 4:
        world_.fuse.cut();
        return pass(Millis(5000));
      case 5:
        if (shim != nullptr)
          world_.leave(*shim, 1);
        break;
      case 6:
        // The executor writes what it has, and goes on.
        if (shim != nullptr)
          if (auto text =
                  json::splice(copy_of(*shim), {{"/updated_at", json::quote(stamp())},
                                                {"/skill_state/current_action", "\"develop\""}}))
            world_.disk.write(path_of(loop), *text);
        break;
      case 7: {
        const std::string whole = *world_.disk.file(path_of(loop));
        world_.disk.write(path_of(loop), whole.substr(0, whole.size() / 2));
        settle();
        world_.disk.write(path_of(loop), whole);
        break;
      }
      default:
        if (shim != nullptr)
          work(*shim);
        break;
    }
    if (random_.below(6) == 0) {
      world_.disk.changes.clear();
      settle();
      pass(Millis(1000));
      world_.kill();
      REQUIRE(world_.start());
    }
    settle();
    world_.fuse.cut();
  }

  void check() {
    CHECK(world_.faults().empty());
    std::map<std::string, int> running;
    for (const FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running))
      CHECK(++running[shim->launch.key.flow.name] == 1);
    for (const std::string& loop : names_) {
      CAPTURE(loop);
      const std::string now = status(loop);
      if (wishes_[loop] == Wish::paused)
        CHECK(now == "paused");
      if (wishes_[loop] == Wish::stopped)
        CHECK(now == "failed");
      if (wishes_[loop] != Wish::run)
        CHECK(started(loop) == starts_[loop]);
      auto state = parse_json(*world_.disk.file(path_of(loop)));
      const auto iteration =
          state ? json::integer(**state, "current_iteration").value_or(-1) : iterations_[loop];
      CHECK(iteration >= iterations_[loop]);
      iterations_[loop] = iteration;
    }
  }

  Random random_;
  World world_;
  const std::vector<std::string> names_ = {"loop-v2-a", "loop-v2-b"};
  std::map<RunId, std::string> copies_;
  std::map<std::string, Wish> wishes_;
  std::map<std::string, std::size_t> starts_;
  std::map<std::string, std::int64_t> iterations_;
  int ticks_ = 0;
  int asked_ = 0;
};

}  // namespace

TEST_SUITE("ccw_loop") {
  TEST_CASE("in any world a word of a person holds, and what is not halted comes to its end") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(seed);
      Loops loops(seed);
      loops.live();
      loops.rest();
    }
  }
}

}  // namespace baton::testing
