#include "app/book.h"

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
  CHECK(world.journal.tables.controls.at({"rules", "t/a"}).reason == "spawns_per_hour");
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
  CHECK(world.journal.tables.controls.at({"rules", "t/a"}).reason == "spawns_per_hour");
}

}  // namespace baton::testing
