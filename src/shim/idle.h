// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a run is idle: for the whole limit it wrote nothing, used less than 1 % of one
// processor, and changed no file. Some agent programs print nothing before their end, so silence
// alone says little.
//
// Each sign of life begins the time anew. A short time after it, the used CPU time is noted. When
// the limit is over, the CPU time since then decides; if it was little, a child of the shim looks
// for changed files (file_changes.h). What cannot be found out puts off the end, because it proves
// nothing: the time limit of the run still ends it.

#include <cstdint>
#include <limits>

#include <sys/types.h>

#include "shim/file_changes.h"
#include "shim/launch.h"
#include "shim/tree.h"

namespace baton::shim {

/// A moment that never comes.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The time limit `idle_timeout` of one run. All times are those of `steady_ms`.
class IdleWatch {
 public:
  /// Both objects must outlive this one. `started`: time of the claim.
  IdleWatch(const Launch& launch, const Tree& tree, std::int64_t started);

  /// The run wrote something.
  void heard(std::int64_t now);
  /// When to call `is_idle` again.
  std::int64_t next() const;
  /// Whether the run has been idle for the limit. May start a look; its answer comes later.
  /// `reaped_cpu_ms`: of the run's processes that the shim has waited for.
  bool is_idle(std::int64_t now, std::int64_t reaped_cpu_ms);

  /// The child that looks for changed files; 0: none.
  pid_t looker() const { return looker_; }
  /// The looker has ended with this status of waitpid.
  void looker_ended(int status);
  /// Ends the looker, whose answer no longer matters.
  void stop();

 private:
  struct CpuTime {
    std::int64_t tree_ms = 0;
    std::int64_t cgroup_ms = 0;
  };

  void alive(std::int64_t now);
  std::int64_t due() const;
  CpuTime cpu_time(std::int64_t reaped_ms) const;
  bool is_busy(std::int64_t now, std::int64_t reaped_ms) const;
  void look(std::int64_t now);
  std::int64_t since_ns(std::int64_t now) const;

  const Launch& launch_;
  const Tree& tree_;
  std::int64_t limit_ms_;  ///< 0: none
  std::int64_t settle_ms_;
  std::int64_t life_;          ///< the last sign of life
  std::int64_t life_unix_ms_;  ///< the same as Unix time
  bool noted_ = true;          ///< the CPU time was noted since then
  std::int64_t noted_at_;
  CpuTime cpu_;  ///< at `noted_at_`
  pid_t looker_ = 0;
  bool awaited_ = false;  ///< the answer of the looker still matters
  std::int64_t look_ends_ = kNever;
  Look answer_ = Look::unknown;
  bool answered_ = false;
};

}  // namespace baton::shim
