// SPDX-License-Identifier: Apache-2.0
#pragma once

// A whole root on fakes, with an engine that can be killed and started again at any time.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "engine/engine.h"
#include "fakes.h"

namespace baton::testing {

/// The Setup of a configuration as scenarios write it; see scenarios/README.md. `dialect` is
/// `rules` or `toy`. Errc::config names what is wrong.
Result<Setup> setup_of(const Json& config, std::string_view dialect);

/// One file and one end for each step: everything that comes together is dealt with in as many
/// steps as there can be.
inline constexpr StepLimits kOneFile{.time = Millis(0), .files = 1, .ends = 1};

/// The limits of every World that is made from now on.
StepLimits& step_limits();

struct World {
  World();
  Fuse fuse;
  Deeds deeds;
  FakeClock clock;
  FakeProviders providers{fuse};
  FakeSpending spending;
  UtcZones zones;
  FakeDisk disk{fuse, deeds};
  FakeJournal journal{fuse};
  FakeAgents agents{fuse, deeds, clock};
  FakeRequests requests{fuse};
  FakeObserver observer;
  StepLimits limits = step_limits();
  Setup setup;
  /// Files written, or removed, after the next commit with a run and before its release.
  std::map<std::string, std::optional<std::string>> overtaking;
  std::map<Role, std::string> broken_roles;  ///< what a look at them finds: "" for nothing wrong
  std::unique_ptr<Engine> engine;

  /// A new daemon: made, recovered; what it finds is dealt with by `settle`.
  Result<void> start();
  /// For the setup of a configuration that is exchanged.
  RenewAgent renewer();
  /// The daemon is gone at once; shims and files stay.
  void kill();
  /// The machine goes down and comes up again. There is no daemon then.
  void power_cut();

  /// Takes out what the watchers and shims have for the daemon.
  std::vector<Input> inputs();
  /// Delivers everything and steps until nothing is left to do at once. Agents that were told to
  /// stop end. Errc::too_large when the engine spins; else the engine's error.
  Result<void> settle();
  /// The same; a daemon that is killed meanwhile is followed by another one.
  Result<void> survive();
  /// An agent leaves by itself.
  void leave(const FakeAgents::Shim& shim, int code);
  /// Lets time pass, from wake to wake.
  Result<void> pass(Millis by);

  /// Promises broken so far, by anybody.
  std::vector<std::string> faults() const;

 private:
  std::vector<std::string> broken_;
};

}  // namespace baton::testing
