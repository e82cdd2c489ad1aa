// SPDX-License-Identifier: Apache-2.0
#include "engine/state/flow_record.h"

#include <doctest/doctest.h>

#include "world.h"

namespace baton::testing {
namespace {

constexpr Millis kMonth{30LL * 86'400'000};

/// Tickets that want a developer, who may be started three times an hour.
struct Tickets : World {
  Tickets() {
    setup = *setup_of(
        *parse_json(R"({"limits": {"spawns_per_hour": 3, "backoff": "10s", "max_running": 20},
      "rules": [{"name": "t", "files": "{flow}.json", "stage": "/{subject}",
                 "react": [{"to": "ready", "run": "developer"}]}]})"),
        "rules");
    REQUIRE(start());
  }
  /// A new daemon, by another clock.
  void restart(Millis by) {
    kill();
    clock.at += by;
    REQUIRE(start());
    REQUIRE(settle());
  }
  void fail_all() {
    for (const FakeAgents::Shim* const shim : agents.in(FakeAgents::State::running))
      leave(*shim, 1);
    REQUIRE(settle());
  }
  std::size_t starts() const { return agents.order.size(); }
  void begin_and_move_on(const std::string& text) {
    disk.write("a.json", text);
    REQUIRE(settle());
    for (const FakeAgents::Shim* const shim : agents.in(FakeAgents::State::running))
      leave(*shim, 0);
    disk.write("a.json", R"({"A": "done", "B": "done", "C": "done", "D": "done"})");
    REQUIRE(settle());
  }
  Word control() const {
    const auto row = journal.tables.controls.find({"rules", "t/a"});
    return row == journal.tables.controls.end() ? "" : row->second.reason;
  }
  Word held() const {
    const FlowRecord& record = engine->records().at({"rules", "t/a"});
    return record.holds.empty() ? "" : std::string(word(record.holds.front().cause.reason));
  }
};

}  // namespace

TEST_CASE("a clock that was set back makes nobody wait for what it has told") {
  Tickets world;
  world.disk.write("a.json", R"({"A": "ready"})");
  REQUIRE(world.settle());
  REQUIRE(world.pass(Millis(5000)));
  world.fail_all();
  world.restart(-kMonth);
  CHECK(world.starts() == 1);  // the wait itself stays
  REQUIRE(world.pass(Millis(15'000)));
  CHECK(world.starts() == 2);
}

TEST_CASE("what was resumed by a clock that was ahead has a budget all the same") {
  Tickets world;
  world.disk.write("a.json", R"({"A": "ready", "B": "ready", "C": "ready", "D": "ready"})");
  REQUIRE(world.settle());
  CHECK(world.starts() == 3);
  CHECK(world.journal.tables.controls.at({"rules", "t/a"}).reason == "cap_reached");
  REQUIRE(world.pass(Millis(1000)));
  Request resume;
  resume.id = "request-1";
  resume.verb = "resume";
  resume.flow = {"rules", "t/a"};
  world.requests.add(resume);
  REQUIRE(world.settle());
  CHECK(world.starts() == 4);
  world.restart(-kMonth);
  REQUIRE(world.pass(Millis(1000)));
  world.disk.write("a.json", R"({"E": "ready", "F": "ready", "G": "ready", "H": "ready"})");
  REQUIRE(world.settle());
  CHECK(world.starts() == 6);
  CHECK(world.journal.tables.controls.at({"rules", "t/a"}).reason == "cap_reached");
}

TEST_CASE("who was interrupted waits for a person, whatever the clock did between the attempts") {
  Tickets world;
  Millis then{0};
  SUBCASE("the first attempt was by a clock that was ahead") {
    then = -kMonth;
  }
  SUBCASE("the second attempt was by a clock that was ahead") {
    then = kMonth;
  }
  world.disk.write("a.json", R"({"A": "ready"})");
  REQUIRE(world.settle());
  world.fail_all();
  world.restart(then);
  REQUIRE(world.pass(Millis(15'000)));
  CHECK(world.starts() == 2);
  world.power_cut();
  for (const Millis by : {Millis(0), -then, Millis(60'000), then}) {
    CAPTURE(by.count());
    world.restart(by);
    CHECK(world.starts() == 2);
    CHECK(world.held() == "interrupted");
  }
}

TEST_CASE("the budget of an hour counts all starts of it, also when one was by a clock ahead") {
  Tickets world;
  world.begin_and_move_on(R"({"A": "ready", "B": "ready"})");
  world.restart(kMonth);
  world.begin_and_move_on(R"({"C": "ready"})");
  CHECK(world.starts() == 3);
  world.restart(-kMonth);
  world.begin_and_move_on(R"({"D": "ready"})");
  CHECK(world.starts() == 3);
  CHECK(world.control() == "cap_reached");
}

TEST_CASE("starts by a clock that was ahead are an hour old after an hour, in whatever daemon") {
  Tickets world;
  world.begin_and_move_on(R"({"A": "ready", "B": "ready", "C": "ready"})");
  CHECK(world.starts() == 3);
  world.restart(-kMonth);
  REQUIRE(world.pass(Millis(3'700'000)));
  world.restart(Millis(0));
  world.begin_and_move_on(R"({"D": "ready"})");
  CHECK(world.starts() == 4);
  CHECK(world.control() == "");
}

}  // namespace baton::testing
