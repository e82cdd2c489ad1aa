#include "workspace/parallel.h"

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

constexpr std::size_t kMostReadBytes = 64U << 20U;
constexpr unsigned kMostThreads = 16;
// Tasks of some microseconds each are handed over together, or the handing over is what costs.
constexpr std::size_t kBatchTasks = 16;
constexpr std::size_t kBatchBytes = 128U << 10U;

/// Containers and batch systems give fewer cores than the machine has.
unsigned usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::min(static_cast<unsigned>(CPU_COUNT(&set)), kMostThreads);
}

}  // namespace

struct Parallel::State {
  struct Batch {
    std::size_t bytes = 0;
    std::vector<std::function<void()>> tasks;
  };

  std::mutex mutex;
  Batch fresh;                   ///< what was added last; not seen by the threads
  std::condition_variable more;  ///< batches, or the end
  std::condition_variable less;  ///< batches
  std::deque<Batch> waiting;
  std::size_t tasks = 0;    ///< that were handed over, ever
  std::size_t bytes = 0;    ///< of all that are not done
  std::size_t running = 0;  ///< batches
  bool ended = false;
  unsigned wanted = 1;
  std::vector<std::thread> threads;

  /// Runs the oldest batch. The lock is held before and after, not meanwhile.
  void run_one(std::unique_lock<std::mutex>& lock) {
    Batch batch = std::move(waiting.front());
    waiting.pop_front();
    ++running;
    lock.unlock();
    for (std::function<void()>& task : batch.tasks) {
      task();
      task = nullptr;
    }
    lock.lock();
    --running;
    bytes -= batch.bytes;
    less.notify_one();
  }

  void hand_over() {
    tasks += fresh.tasks.size();
    bytes += fresh.bytes;
    waiting.push_back(std::exchange(fresh, {}));
    if (threads.empty() && tasks >= kFew)
      start();
    more.notify_one();
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
  State::Batch& fresh = state_->fresh;
  fresh.bytes += bytes;
  fresh.tasks.push_back(std::move(task));
  if (fresh.tasks.size() < kBatchTasks && fresh.bytes < kBatchBytes)
    return;
  std::unique_lock lock(state_->mutex);
  state_->hand_over();
  while (state_->bytes > kMostReadBytes && !state_->waiting.empty())
    state_->run_one(lock);
}

void Parallel::finish() {
  std::unique_lock lock(state_->mutex);
  if (!state_->fresh.tasks.empty())
    state_->hand_over();
  while (!state_->waiting.empty())
    state_->run_one(lock);
  state_->less.wait(lock, [&] { return state_->running == 0; });
}

}  // namespace baton
