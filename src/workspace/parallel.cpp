// SPDX-License-Identifier: Apache-2.0
#include "workspace/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include <sched.h>

namespace baton {
namespace {

constexpr std::size_t kMostReadBytes = 64U << 20U;
/// With fewer tasks, starting threads costs more than it saves.
constexpr std::size_t kFew = 200;
constexpr int kMostThreads = 16;

/// The cores that this process may use.
std::size_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return static_cast<std::size_t>(std::min(CPU_COUNT(&set), kMostThreads));
}

}  // namespace

void Parallel::add(std::size_t bytes, std::function<void()> task) {
  tasks_.push_back(std::move(task));
  bytes_ += bytes;
  if (bytes_ > kMostReadBytes)
    finish();
}

void Parallel::finish() {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks_.size(); i = next++)
      std::exchange(tasks_[i], nullptr)();
  };
  {
    std::vector<std::jthread> threads;  // they are joined at the end of this block
    const std::size_t wanted = tasks_.size() < kFew ? 1 : usable_cores();
    try {
      while (threads.size() + 1 < wanted)
        threads.emplace_back(work);
    } catch (const std::system_error&) {  // go on with fewer threads
    }
    work();
  }
  tasks_.clear();
  bytes_ = 0;
}

}  // namespace baton
