// SPDX-License-Identifier: Apache-2.0
#pragma once

// The roots of one daemon. They share its limits, its configuration and its end, so a reload or a
// drain concerns all of them. Also keeps the roots that do not exist yet.
// What concerns one root alone is in root_service.h.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "daemon/notifier.h"
#include "daemon/once.h"
#include "daemon/root_service.h"
#include "daemon/service.h"
#include "io/agents/foreign_processes.h"

namespace baton {

/// All roots that the daemon serves now.
class ServedRoots {
 public:
  /// What each root needs. All of it must outlive this object.
  struct Means {
    asio::io_context& loop;
    Notifier& notifier;
    const ServiceOptions& options;
    Clock& clock;
    std::function<void()> wake;  ///< call it when `step` has something to do
  };
  explicit ServedRoots(Means means) : means_(std::move(means)), since_(means_.clock.wall()) {}

  /// Locks a root and opens its parts; the daemon does not serve it yet. Errc::locked: a command
  /// works on the root and will end soon. Errc::served: another daemon serves it.
  Result<std::unique_ptr<RootService>> take_up(const ServedRoot& served, const std::string& shim);
  void serve(std::unique_ptr<RootService> root);
  /// `take_up` and `serve`, for a root that the daemon waited for. Does nothing if the daemon
  /// serves that folder already.
  Result<void> take_up_late(const ServedRoot& served, const std::string& shim);

  /// One step of each root. An error ends the daemon.
  Result<void> step();
  /// When `step` has something to do without an input.
  std::optional<Time> due(Time now) const;

  bool none() const { return roots_.empty(); }
  std::uint32_t running() const;
  /// Whether nothing runs on any root and nothing will start within this time (for `run --once`).
  bool over(Time now, Millis within) const;
  /// Since when a root is unavailable; nothing while all are available.
  std::optional<Time> away_since() const;
  /// Why some root can start nothing, and since when.
  std::optional<StartTrouble> start_trouble() const;
  /// Whether `step` has to be called once a second, for the lock of a root.
  bool guards_lock() const;
  /// Whether the disk is full that holds the state of some root.
  bool disk_full() const;
  /// Whether the available roots are quiet, and the others have no agent and no backup that runs.
  bool quiet_elsewhere() const;
  /// What `run --once` found; `began`: when the daemon began.
  OnceVerdict verdict(Time began, const OnceWish& wish) const;
  /// How many flows have a hold or a file that is wrong.
  std::size_t held() const;
  /// What the daemon waits for: `FLOW: why` for each flow that waits or has a time for its next
  /// look.
  std::vector<std::string> waits() const;

  /// Starts nothing from now on, also in roots that the daemon takes up later.
  void drain();
  /// Whether a drain is complete.
  bool drained() const;
  void stop_agents(const std::string& why);

  /// Writes the status of each root for commands. Returns a line about all roots for people.
  std::string write_statuses();

  /// What a monitor sees. `up`: false when the daemon is ending.
  std::vector<RootMetrics> metrics(bool up) const;
  /// See RootService.
  void note_metrics_fault(const std::string& why) const;

  /// A new configuration that is ready for use: putting it in force cannot fail.
  struct Exchange {
    std::vector<std::unique_ptr<RootService>> taken_up;
    struct Remaining {
      RootService* root = nullptr;
      std::unique_ptr<ConfiguredParts> parts;
      const ServedRoot* by = nullptr;  ///< the same root in the new configuration
    };
    std::vector<Remaining> kept;
    const ServedRoot* any = nullptr;  ///< some root of the new configuration
    std::string message = "the configuration was read again";
  };
  /// `loaded` must outlive the result.
  Result<Exchange> prepare(const ServiceConfig& loaded);
  /// Puts the new configuration in force. Returns what changed, for people.
  std::string exchange(Exchange next);
  /// If a request asked for it, calls `reload` once and answers all such requests with the result.
  void answer_reloads(const std::function<Result<std::string>()>& reload);

  /// `sweep` removes files that killed daemons left behind, `prune` removes old history and
  /// backups.
  void sweep();
  void prune(const Retention& retention);

 private:
  void drain_together();
  void give_up_left();
  void look_for_foreign();

  Means means_;
  std::vector<std::unique_ptr<RootService>> roots_;
  Time since_;
  bool draining_ = false;
  UnitCgroup unit_;
  std::vector<ForeignProcess> foreign_;  ///< as told last
  std::optional<std::uint32_t> looked_;  ///< how many agents ran at the last look for them
  bool again_ = false;  ///< a place became free that another root may use: it steps again
};

/// "1 agent", "2 agents".
std::string count_agents(std::size_t count);

/// The roots of the configuration that did not exist when the daemon began, or could not be served.
/// The daemon serves such a root as soon as somebody creates, mounts or repairs it.
class AwaitedRoots {
 public:
  /// Errc::not_found if `loaded` awaits a root that the daemon did not await before. That is more
  /// likely a typing mistake.
  Result<void> check(const std::vector<AwaitedRoot>& loaded) const;
  void replace(std::vector<AwaitedRoot> roots) { roots_ = std::move(roots); }
  void add(AwaitedRoot root) { roots_.push_back(std::move(root)); }
  /// Makes `loaded` await the same roots, unless it has no other root. So a root with an error does
  /// not keep the other roots from a reload.
  void keep(ServiceConfig& loaded) const;

  /// Passes each root that exists by now to `take`, and forgets it if that succeeds. Logs once why
  /// a root is still awaited.
  void look(const std::function<Result<void>(const ServedRoot&)>& take);
  bool none() const { return roots_.empty(); }
  /// `; ROOT is waited for`, for each root.
  std::string describe() const;

 private:
  std::vector<AwaitedRoot> roots_;
  std::map<std::string, std::string> logged_;  ///< why a root is awaited, as logged last, by path
};

}  // namespace baton
