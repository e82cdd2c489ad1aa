// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "world.h"

namespace baton::testing {
namespace {

struct Measured : World {
  Measured() {
    const auto config = parse_json(
        R"({"agents": {"dev": {"command": ["dev"]}}, "rules": [{"name": "r", "files": "{flow}.json",
            "stage": "/s", "react": [{"to": "go", "run": "dev"}]}]})");
    REQUIRE(config.has_value());
    auto its = setup_of(*config, "rules");
    REQUIRE_MESSAGE(its.has_value(), (its ? "" : describe(its.error())));
    setup = *std::move(its);
    REQUIRE(start().has_value());
    REQUIRE(settle().has_value());
    observer.took.clear();
  }
  void step() { REQUIRE(engine->step(inputs()).has_value()); }
};

using Times = std::vector<Millis>;

TEST_CASE("the delay of a decision counts from when its file was queued") {
  Measured world;
  world.limits = kOneFile;
  world.kill();
  REQUIRE(world.start().has_value());
  REQUIRE(world.settle().has_value());
  world.observer.took.clear();
  world.disk.write("a.json", R"({"s": "rest"})");
  world.disk.write("b.json", R"({"s": "rest"})");
  world.step();
  REQUIRE(world.observer.took == Times{Millis(0)});
  world.clock.advance(Millis(40));
  world.step();
  CHECK(world.observer.took == Times{Millis(0), Millis(40)});
  // One that changes again meanwhile does not count twice, nor one that stays the same.
  REQUIRE(world.settle().has_value());
  CHECK(world.observer.took.size() == 2);
}

TEST_CASE("the time of a commit that failed counts, too") {
  Measured world;
  world.disk.write("a.json", R"({"s": "go"})");
  world.journal.fails = Errc::busy;
  world.step();
  CHECK(world.observer.took.empty());
  world.journal.fails.reset();
  world.clock.advance(Millis(1500));
  world.step();
  REQUIRE(world.observer.took.size() == 1);
  CHECK(world.observer.took.front() == Millis(1500));
  CHECK(world.engine->running() == 1);
}

TEST_CASE("a file that is not accepted is no decision") {
  Measured world;
  world.disk.write("a.json", "{");
  REQUIRE(world.settle().has_value());
  REQUIRE(world.pass(Millis(10'000)).has_value());
  CHECK(world.observer.took.empty());
}

}  // namespace
}  // namespace baton::testing
