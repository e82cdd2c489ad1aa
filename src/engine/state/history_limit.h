// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how many events of changed files the history and the log take within an hour, because a
// program can change a file many times a second. What follows from the changes is decided all the
// same: no decision reads the history.
// It counts for each flow and for the root as a whole. Above a limit, events of changed files are
// left out. The event `history_limited` says so when it begins, and how many it were when the hour
// is over. Starts, ends, decisions, and what people must hear are always kept.
// The counts are in memory only: a new daemon counts from zero.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/time.h"
#include "core/flow.h"
#include "engine/state/flow_record.h"

namespace baton {

/// All flows of a root together have this many times as many events as one flow.
inline constexpr std::uint64_t kFlowsAtTheLimit = 20;

/// The counts of all flows of a root.
class HistoryLimit {
 public:
  /// Takes events out of a step that is complete otherwise. Its counts are in force once the step
  /// is committed. `per_hour`: of one flow; 0: no limit.
  void thin(Draft& draft, std::uint32_t per_hour);
  void committed();
  /// When the next hour is over of which something is to be said.
  std::optional<Time> wake() const;

 private:
  struct Hour {
    Time since{};
    std::uint64_t kept = 0;
    std::uint64_t left_out = 0;
  };
  using Hours = std::map<FlowId, Hour>;
  Hour& hour(const FlowId& flow, Time now);
  bool keep(const Event& event, std::uint32_t per_hour, Draft& draft);
  bool count(const FlowId& flow, std::uint64_t most, Draft& draft);
  void tell_what_was_left_out(Draft& draft);
  void forget(Time now);

  Hours hours_;    ///< the root's own has no name
  Hours changed_;  ///< by the step
  Time now_{};     ///< of the step
  std::set<FlowId> limited_;
  static constexpr std::size_t kFew = 1000;
  std::size_t most_ = kFew;  ///< with more hours than that, old ones are removed
};

}  // namespace baton
