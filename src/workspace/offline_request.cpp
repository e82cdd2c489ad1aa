// SPDX-License-Identifier: Apache-2.0
#include "workspace/offline_request.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <asio.hpp>

#include "base/text.h"
#include "engine/engine.h"
#include "io/agents/agents.h"
#include "io/agents/run_directory.h"
#include "io/files/disk.h"
#include "io/files/lock.h"
#include "io/files/root.h"
#include "io/journal/claims.h"
#include "io/journal/daemon_db.h"
#include "io/journal/daemon_runs.h"
#include "io/journal/journal.h"
#include "io/system/clock.h"
#include "io/system/requests.h"
#include "io/system/time_zones.h"
#include "workspace/daemon_status.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/output.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kTurn{50};
constexpr std::chrono::milliseconds kLongestTurn{2000};
/// How long to wait, in addition to the grace period of the agents.
constexpr Millis kPatience{30'000};
/// How long to wait for another command that works on the same root.
constexpr Millis kLockPatience{10'000};

/// Waits for other commands to release the lock, but not for a daemon.
Result<RootLock> lock_as_command(const std::string& root, const std::string& state) {
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  for (bool notified = false;; notified = true) {
    auto lock = lock_root(root, state, LockRole::command);
    if (lock || lock.error().code != Errc::locked)
      return lock;
    if (std::chrono::steady_clock::now() > until) {
      lock.error().message += "; try again when it has ended";
      return lock;
    }
    if (!notified)
      complain("warning: " + printable(describe(lock.error())) + "; waiting for its end");
    std::this_thread::sleep_for(kTurn);
  }
}

/// An engine that starts nothing, and its ports. Holds the lock of the root.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> open(const Context& context, const std::string& state,
                                             Setup setup) {
    auto lock = lock_as_command(context.root(), state);
    if (!lock)
      return pass_on(lock);
    auto stage = std::unique_ptr<Stage>(new Stage(*std::move(lock)));
    if (auto alone = refuse_agents_without_journal(context.root(), state); !alone)
      return pass_on(alone);
    auto journal = open_journal(state);
    if (!journal)
      return pass_on(journal);
    stage->journal_ = *std::move(journal);
    auto folder = RootFolder::open(context.root());
    const bool gone = !folder && folder.error().code == Errc::not_found;
    if (!folder && !gone)
      return pass_on(folder);
    const auto root = gone ? RootFolder::absent(context.root()) : *std::move(folder);
    // As in the daemon: an empty folder may be a mount point without its volume, so change nothing.
    if (!gone)
      remember_last_root(state, *root);
    stage->disk_ = real_disk(root);
    auto requests = real_requests(state);
    if (!requests)
      return pass_on(requests);
    stage->requests_ = *std::move(requests);
    stage->providers_ = make_providers(state, false);
    stage->spending_ = make_spending(state, false);
    auto shim = find_shim(setup.environment.executable);
    if (!shim)
      return pass_on(shim);
    ProcessAgentsOptions options;
    options.runs.path = runs_folder(state);
    options.shim = *std::move(shim);
    stage->agents_ = process_agents(
        stage->loop_, std::move(options),
        [it = stage.get()](RunEnded ended) { it->inputs_.emplace_back(std::move(ended)); });
    auto engine = Engine::make(
        {*stage->disk_, *stage->journal_, *stage->agents_, *stage->requests_, *stage->clock_,
         stage->observer_, *stage->providers_, *stage->spending_, *stage->zones_},
        std::move(setup));
    if (!engine)
      return pass_on(engine);
    stage->engine_ = *std::move(engine);
    if (auto recovered = stage->engine_->recover(); !recovered)
      return pass_on(recovered);
    return stage;
  }

  Engine& engine() { return *engine_; }
  void requests_changed() { inputs_.emplace_back(RequestsChanged{}); }

  /// Handles all inputs. There is a time limit, because another program may change a file all the
  /// time.
  Result<void> turn() {
    const auto until = std::chrono::steady_clock::now() + kLongestTurn;
    do {
      if (auto done = engine_->step(std::exchange(inputs_, {})); !done)
        return done;
    } while (engine_->pending() && std::chrono::steady_clock::now() < until);
    return {};
  }
  void wait() {
    loop_.restart();
    loop_.run_for(kTurn);
  }

 private:
  explicit Stage(RootLock lock) : lock_(std::move(lock)) {}
  RootLock lock_;
  asio::io_context loop_;
  std::vector<Input> inputs_;
  Observer observer_;
  std::unique_ptr<Clock> clock_ = real_clock();
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Agents> agents_;
  std::unique_ptr<Providers> providers_;
  std::unique_ptr<Spending> spending_;
  std::unique_ptr<TimeZones> zones_ = real_time_zones();
  std::unique_ptr<Engine> engine_;
};

bool runs_left(const Engine& engine, const FlowId& flow) {
  return flow == FlowId{} ? engine.running() > 0 : engine.runs(flow);
}

Millis longest_grace(const Engine& engine) {
  Millis grace{0};
  for (const auto& [flow, record] : engine.records())
    for (const Run& run : record.runs)
      if (run.live())
        grace = std::max(grace, run.limits.kill_grace);
  return grace;
}

/// Steps until the request is answered and, with Until::agents_ended, its agents have ended.
Result<Reply> answer(Stage& stage, const std::string& state, const std::string& id,
                     const FlowId& flow, Until until) {
  const auto deadline =
      std::chrono::steady_clock::now() + kPatience + longest_grace(stage.engine());
  std::optional<Reply> reply;
  for (;;) {
    if (auto done = stage.turn(); !done)
      return pass_on(done);
    if (!reply)
      reply = await_reply(state, id, Millis(0));
    const bool left =
        until == Until::agents_ended && reply && reply->accepted && runs_left(stage.engine(), flow);
    if (reply && !left)
      return *std::move(reply);
    if (std::chrono::steady_clock::now() > deadline)
      return fail(Errc::busy, reply ? "agents are still ending; `baton agents --running` shows them"
                                    : "the request could not be dealt with; it stays recorded");
    stage.wait();
  }
}

}  // namespace

Result<Reply> act_offline(const Context& context, const Request& request, Until until) {
  if (context.is_foreign())
    return fail(
        Errc::denied,
        "the configuration is not to be trusted by this user; run this as the daemon's user",
        context.configuration());
  // Record nothing for a path that does not exist and was never served. It is a typing mistake.
  if (auto there = existing_folder(context.root()); !there && !context.is_known(context.root()))
    return pass_on(there);
  auto setup = context.setup(context.root());
  if (!setup)
    return pass_on(setup);
  setup->may_start = false;
  auto state = context.make_state_folder(context.root());
  if (!state)
    return pass_on(state);
  auto opened = Stage::open(context, *state, *std::move(setup));
  if (!opened)
    return pass_on(opened);
  Stage& stage = **opened;
  // Read the files first, so that the request finds flows that no daemon has seen yet.
  if (auto done = stage.turn(); !done)
    return pass_on(done);
  auto posted = post_request(*state, request);
  if (!posted)
    return pass_on(posted);
  stage.requests_changed();
  return answer(stage, *state, posted->id, request.flow, until);
}

}  // namespace baton
