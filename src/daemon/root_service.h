// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connects the engine of one root with the outside world: lock, journal, agents, watches and
// status. It also notices when the root or its state folder is removed, renamed or replaced. The
// event loop and what roots share belong to run.cpp and served_roots.h.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/pinned.h"
#include "base/result.h"
#include "daemon/service.h"
#include "engine/configured_parts.h"
#include "engine/engine.h"
#include "engine/metrics.h"
#include "io/files/fd.h"
#include "io/files/lock.h"
#include "io/files/root.h"
#include "io/system/time_zones.h"
#include "io/watch/watch.h"
#include "workspace/daemon_status.h"

namespace baton {

/// Serves one root. Keeps all inputs until `step`. The loop must outlive this object.
class RootService : private Pinned, private Observer {
 public:
  using Wake = std::function<void()>;

  /// Calls `wake` when something has come in for `step`.
  static Result<std::unique_ptr<RootService>> make(asio::io_context& loop, ServedRoot served,
                                                   RootLock lock, const std::string& shim,
                                                   std::unique_ptr<Observer> observer, Wake wake);

  Engine& engine() { return *engine_; }
  /// Removes temporary files that a killed daemon left beside the files of the root.
  void sweep();
  const std::string& root() const { return served_.root; }
  const std::string& state_folder() const { return served_.state_folder; }
  /// Since when the root is unavailable: it does not exist, or an empty folder is in its place.
  /// Nothing while it is served.
  std::optional<Time> away_since() const { return away_since_; }
  /// How baton watches the root, for people.
  std::string describe() const;
  bool polls() const;
  /// Whether `step` has to look after the lock of the root once a second.
  bool guards_lock() const { return lock_.beside(); }
  /// Tells people of processes that belong to no run; "": they are gone.
  void tell_foreign(std::string what);
  /// Why the file of the metrics cannot be written, for `baton doctor`; "": it can.
  void note_metrics_fault(std::string why) { metrics_fault_ = std::move(why); }
  /// What a monitor sees of the root. Keeps the counters first, so that they never go back.
  RootMetrics metrics(Time since);
  /// Writes `daemon.json` of the state folder; `since`: when the daemon began.
  void write_status(Time since);

  /// Deals with everything that has come in. Each error ends the daemon. Errc::served: another
  /// daemon serves the root now.
  Result<void> step();
  /// Whether the last `step` decided to start an agent.
  bool started() const { return started_; }
  bool due(Time now) const;
  /// Puts a new configuration in force. `by` is this root in the new configuration.
  void reconfigure(std::unique_ptr<ConfiguredParts> parts, const ServedRoot& by);

  /// Call it when the configuration no longer names this root. The root starts nothing more, and
  /// the daemon stops serving it when its last agent has ended. `by` is another root of the new
  /// configuration.
  void leave(const ServedRoot& by);
  bool leaving() const { return leaving_; }
  bool left() const { return leaving_ && engine_->running() == 0 && !engine_->encrypting(); }

 private:
  RootService(asio::io_context& loop, ServedRoot served, RootLock lock, Wake wake);
  void happened(const Event& event) override;
  void acted(Millis took) override { counters_.latency.add(took); }
  Result<void> open(const std::string& shim);
  void read_counters();
  void start_watch();
  void rescan(std::string why);
  Result<void> keep_lock();
  void look_for_root();
  void look_into_root();
  void take_configuration(const ServedRoot& by);
  void take_up_schemas();
  void copy_configuration();
  void copy_environment();
  /// Sets `trouble_`.
  void note_trouble(const DaemonState& state);
  Result<void> hold_journal();

  asio::io_context& loop_;
  ServedRoot served_;
  std::string digest_;  ///< of the configuration; "" without one
  PromptFaults prompt_faults_;
  RootLock lock_;
  Wake wake_;
  std::unique_ptr<Observer> observer_;
  std::vector<Input> inputs_;
  DaemonStatus status_;
  std::optional<RootTrouble> trouble_;  ///< what keeps the root from working, and since when
  Fd reserve_;                          ///< kept for writing the status when no descriptor is left
  std::optional<std::string> copied_;   ///< the digest of the last copy of the configuration
  std::string copy_fault_;              ///< why no copy could be written
  std::string foreign_;                 ///< processes that belong to no run, for people
  std::string bad_schema_;              ///< why a changed schema cannot be used; "" if none is bad
  std::string lock_fault_;              ///< why the lock of the root cannot be renewed
  std::string away_;                    ///< why the root is unavailable; "" while it is served
  bool bare_ = false;                   ///< the root may be a mount point without its volume
  std::optional<Time> away_since_;
  bool leaving_ = false;
  bool started_ = false;
  RootCounters counters_;
  RootCounters kept_counters_;  ///< as written last
  std::string counters_fault_;  ///< why they cannot be kept
  std::string metrics_fault_;
  Fd state_;  ///< the state folder, to notice that it was removed
  /// The files of the journal by path, with O_PATH descriptors, to notice that one was removed.
  std::vector<std::pair<std::string, Fd>> held_;
  std::shared_ptr<RootFolder> root_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Providers> providers_;
  std::unique_ptr<Spending> spending_;
  std::unique_ptr<TimeZones> zones_ = real_time_zones();
  std::unique_ptr<Agents> agents_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Watch> control_;
};

}  // namespace baton
