// SPDX-License-Identifier: Apache-2.0
#pragma once

// Uses several cores for commands that check many files. Tasks wait until they hold a certain
// amount of memory, then all of them run. The daemon has one thread and does not use this.

#include <cstddef>
#include <functional>
#include <vector>

namespace baton {

/// Runs tasks on several cores. Tasks must not share data that changes.
class Parallel {
 public:
  /// Takes a task that holds `bytes` of memory. If the waiting tasks hold too much memory, runs
  /// them first. A task must not throw.
  void add(std::size_t bytes, std::function<void()> task);
  /// Runs all waiting tasks and returns when all have run.
  void finish();

 private:
  std::vector<std::function<void()>> tasks_;
  std::size_t bytes_ = 0;
};

}  // namespace baton
