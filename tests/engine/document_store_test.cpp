// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "world.h"

namespace baton::testing {

TEST_CASE("what the journal has of a file counts only where it is what was accepted of it") {
  World world;
  world.setup = *setup_of(*parse_json(R"({"rules": [{"name": "t", "files": "t.json", "stage": "/s",
                                          "react": [{"to": "ready", "run": "developer"}]}]})"),
                          "rules");
  REQUIRE(world.start());
  world.disk.write("t.json", R"({"s": "rest"})");
  REQUIRE(world.settle());
  world.kill();
  world.journal.tables.accepted.at("t.json").second = R"({"s": "ready"})";
  REQUIRE(world.start());
  REQUIRE(world.settle());
  CHECK(world.agents.order.empty());
  const auto& holds = world.engine->records().at({"rules", "t"}).decision.holds;
  REQUIRE(holds.size() == 1);
  CHECK(holds[0].cause.reason == Reason::unconfigured);
  // Written anew, it is what it says.
  world.disk.write("t.json", R"({"s": "ready", "by": "a person"})");
  REQUIRE(world.settle());
  CHECK(world.agents.order.size() == 1);
}

}  // namespace baton::testing
