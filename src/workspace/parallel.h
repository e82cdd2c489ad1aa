#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace baton {

/// Runs pure functions on several cores. Only commands that look at many files use it; the daemon
/// has one thread.
class Parallel {
 public:
  /// Takes a task that holds so much memory. When too much of it is waiting, runs what waits. A
  /// task must not throw.
  void add(std::size_t bytes, std::function<void()> task);
  /// Runs every task that waits, and returns when all have run.
  void finish();

 private:
  std::vector<std::function<void()>> tasks_;
  std::size_t bytes_ = 0;
};

}  // namespace baton
