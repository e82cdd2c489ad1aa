// SPDX-License-Identifier: Apache-2.0
#pragma once

// What has happened on one root since baton began to count: the counters of engine/metrics.h.
//
// Problem: a counter that goes back, or that begins anew with each `baton run --once`, shows work
// that never was, or none. The journal drops old runs, so it cannot be asked for sums.
// Way: each event of the history that starts or ends a run is counted once, in order of its number.
// The counters are kept together with the number of the last event (daemon/counters_file.h), so a
// new daemon goes on from there and counts what it finds in the history behind it.
// Limits: they are for monitoring. What caps decide by is in core/caps.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json/json.h"
#include "base/time.h"
#include "config/setup.h"
#include "core/event.h"
#include "core/run.h"

namespace baton {

/// The upper bounds of the buckets for the decision latency, in seconds.
inline constexpr std::array kLatencyBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                              0.5,   1.0,  2.5,   5.0,  10.0, 30.0};

struct LatencyCounts {
  /// One per bound, and one for all above; not cumulative.
  std::array<std::uint64_t, kLatencyBounds.size() + 1> counts{};
  Millis sum{0};
  /// A negative time counts as none.
  void add(Millis took);
  bool operator==(const LatencyCounts&) const = default;
};

struct AgentCounters {
  std::uint64_t started = 0;
  std::map<Outcome, std::uint64_t> ended;
  double cost_usd = 0;
  std::uint64_t tokens = 0;
  bool operator==(const AgentCounters&) const = default;
};

struct RootCounters {
  Arrival seq = 0;  ///< the number of the last event that was counted
  std::map<Role, AgentCounters> agents;
  std::uint64_t watch_overflows = 0;
  LatencyCounts latency;

  /// Counts an event with its run, unless it was counted before. `run`: nothing if the journal does
  /// not have it any more; then its outcome is unknown.
  void count(const Event& event, const std::optional<Run>& run,
             const std::map<Role, AgentSpec>& agents);
  bool operator==(const RootCounters&) const = default;
};

/// Whether `count` needs the run of the event.
bool is_counted(const Event& event);

/// The agent as whom a run counts: the one of `agents:` that did the work. Roles without an agent
/// of their own count as `default`, because files name them, so there may be any number of them.
Role counted_as(const Role& agent, const std::map<Role, AgentSpec>& agents);

Json json_of(const RootCounters& counters);
/// Nothing: the value is no such object. What is missing or negative counts as 0.
std::optional<RootCounters> root_counters_in(const Value& json);

}  // namespace baton
