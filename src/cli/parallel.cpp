#include "cli/parallel.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace baton {
namespace {

constexpr std::size_t kMostBytes = 64U << 20U;
constexpr unsigned kMostThreads = 16;

/// Containers and batch systems give fewer cores than the machine has.
unsigned usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::min(static_cast<unsigned>(CPU_COUNT(&set)), kMostThreads);
}

}  // namespace

struct Parallel::State {
  struct Task {
    std::size_t bytes = 0;
    std::function<void()> run;
  };

  std::mutex mutex;
  std::condition_variable more;  ///< tasks, or the end
  std::condition_variable less;  ///< tasks
  std::deque<Task> waiting;
  std::size_t bytes = 0;    ///< of all that are not done
  std::size_t running = 0;  ///< tasks
  bool ended = false;
  unsigned wanted = 1;
  std::vector<std::thread> threads;

  /// Runs the oldest task. The lock is held before and after, not meanwhile.
  void run_one(std::unique_lock<std::mutex>& lock) {
    Task task = std::move(waiting.front());
    waiting.pop_front();
    ++running;
    lock.unlock();
    task.run();
    task.run = nullptr;
    lock.lock();
    --running;
    bytes -= task.bytes;
    less.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      more.wait(lock, [&] { return ended || !waiting.empty(); });
      if (waiting.empty())
        return;
      run_one(lock);
    }
  }

  /// The thread that adds tasks lends a hand, so one less is made.
  void start() {
    try {
      while (threads.size() + 1 < wanted)
        threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      wanted = static_cast<unsigned>(threads.size() + 1);
    }
  }
};

Parallel::Parallel(unsigned threads) : state_(std::make_unique<State>()) {
  state_->wanted = threads == 0 ? usable_cores() : threads;
}
Parallel::Parallel(Parallel&&) noexcept = default;
Parallel& Parallel::operator=(Parallel&&) noexcept = default;

Parallel::~Parallel() {
  if (!state_)
    return;
  finish();
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->more.notify_all();
  for (std::thread& thread : state_->threads)
    thread.join();
}

void Parallel::add(std::size_t bytes, std::function<void()> task) {
  std::unique_lock lock(state_->mutex);
  state_->bytes += bytes;
  state_->waiting.push_back({bytes, std::move(task)});
  if (state_->threads.empty() && state_->waiting.size() >= kFew)
    state_->start();
  state_->more.notify_one();
  while (state_->bytes > kMostBytes && !state_->waiting.empty())
    state_->run_one(lock);
}

void Parallel::finish() {
  std::unique_lock lock(state_->mutex);
  while (!state_->waiting.empty())
    state_->run_one(lock);
  state_->less.wait(lock, [&] { return state_->running == 0; });
}

}  // namespace baton
