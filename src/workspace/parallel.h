#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace baton {

/// Runs pure functions on several cores. Only commands that look at many files use it; the daemon
/// has one thread.
class Parallel {
 public:
  /// Threads are worth their start from so many tasks on; with fewer, all run in `finish`.
  static constexpr std::size_t kFew = 200;

  /// `threads`: how many tasks run at a time; 0: one for each core this process may use. When fewer
  /// can be had, fewer do.
  explicit Parallel(unsigned threads = 0);
  Parallel(Parallel&&) noexcept;
  Parallel& operator=(Parallel&&) noexcept;
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  ~Parallel();

  /// Takes a task that holds so much memory; waits while too much of it is waiting. A task must not
  /// throw.
  void add(std::size_t bytes, std::function<void()> task);
  /// Returns when every task has run.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace baton
