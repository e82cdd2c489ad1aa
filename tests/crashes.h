// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "world.h"

namespace baton::testing {

/// Does `act` in world after world, the daemon killed one moment later in each until it is not
/// killed any more; then another daemon takes over, a minute passes, and `look` looks. `prepare`
/// comes before, undisturbed; `again` comes as soon as the other daemon is up.
struct Crashes {
  std::string config;  ///< as scenarios write it
  std::string_view dialect;
  std::function<void(World&)> prepare = [](World&) {};
  std::function<Result<void>(World&)> act;
  std::function<void(World&)> again = [](World&) {};
  std::function<void(World&)> look;

  void sweep() const {
    bool blown = true;
    std::uint64_t moments = 0;
    for (; blown; ++moments) {
      CAPTURE(moments);
      World world;
      blown = live(world, moments + 1);
      CHECK(world.faults().empty());
    }
    CHECK(moments > 10);
  }

 private:
  static void start(World& world) {
    REQUIRE(world.start());
    REQUIRE(world.settle());
  }

  bool live(World& world, std::uint64_t moment) const {
    auto setup = setup_of(*parse_json(config), dialect);
    REQUIRE(setup);
    world.setup = std::move(*setup);
    start(world);
    prepare(world);
    bool blown = false;
    world.fuse.light(moment);
    try {
      const auto done = act(world);
      CHECK(done.has_value());
    } catch (const DaemonKilled&) {
      blown = true;
    }
    world.fuse.cut();
    world.kill();
    start(world);
    again(world);
    REQUIRE(world.settle());
    REQUIRE(world.pass(Millis(120'000)));
    look(world);
    return blown;
  }
};

}  // namespace baton::testing
