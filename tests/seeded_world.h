// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the simulations of the dialects have in common: dice, a world, a daemon that may be killed
// anywhere and has its events lost, doubled and reordered, and what must hold whatever the dialect.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"
#include "sweep.h"
#include "world.h"

namespace baton::testing {

/// What happened in all worlds of a sweep.
struct FlowIndex {
  std::uint64_t worlds = 0;
  std::uint64_t crashes = 0;
  std::uint64_t power_cuts = 0;
};

/// Mutants of the protocol itself, which every simulation has to catch.
const std::vector<std::string_view>& protocol_mutants();

struct SeededWorld {
  SeededWorld(std::uint64_t seed, std::string_view with_mutant, FlowIndex& of_all);
  Random random;
  World world;
  std::string mutant;
  FlowIndex& flow_index;
  std::uint64_t step = 0;
  std::optional<Fault> fault;  ///< the first one

  void say(std::string what);
  /// Runs something of the daemon's; it may be killed in there.
  void guarded(const std::function<Result<void>()>& work);
  OnInterrupted any_policy();
  /// One of the troubles that come from outside at random; `calm` ends them all.
  void trouble();
  void calm();
  void power_cut();
  /// The daemon's turn: it is started, or sees some of what has happened.
  void deliver();
  /// A daemon that is there and has seen everything.
  void settle();

  /// Promises of the protocol.
  void check();
  /// Every file is accepted as it stands, or rejected as it stands.
  void check_known();
  /// At rest two more daemons start nothing, write nothing and enter nothing.
  void check_restart();
};

/// The view with other documents, another memory or other options, for mutants of a dialect.
View with(const View& view, const FlowState& docs, const Json& memo, const Json& options);

}  // namespace baton::testing
