#pragma once

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
#include "io/files/fd.h"
#include "io/files/lock.h"
#include "io/files/root.h"
#include "io/watch/watch.h"
#include "workspace/daemon_status.h"

namespace baton {

/// Everything by which a daemon serves one root: its lock, journal, agents, watches and engine.
/// What comes in is kept until `step`. The loop must outlive it.
class RootService : private Pinned {
 public:
  using Wake = std::function<void()>;

  /// `wake` is called when something came in.
  static Result<std::unique_ptr<RootService>> make(asio::io_context& loop, ServedRoot served,
                                                   RootLock lock, const std::string& shim,
                                                   std::unique_ptr<Observer> observer, Wake wake);

  Engine& engine() { return *engine_; }
  /// Removes what daemons that were killed have left beside the files.
  void sweep();
  const std::string& root() const { return served_.root; }
  const std::string& state_folder() const { return served_.state_folder; }
  /// Since when the root is not there, or an empty folder is in its place; nothing while it is
  /// served.
  std::optional<Time> away_since() const { return away_since_; }
  /// How it is watched, for people.
  std::string describe() const;
  bool polls() const;
  /// Writes `daemon.json` of the state folder; `since`: when the daemon began.
  void write_status(Time since);

  /// Works off what came in. Errc::io ends the daemon.
  Result<void> step();
  /// The last `step` decided to start something.
  bool started() const { return started_; }
  bool due(Time now) const;
  /// `by`: what the works are made of.
  void reconfigure(std::unique_ptr<ConfiguredParts> parts, const ServedRoot& by);

  /// The configuration does not name it any more: it starts nothing, and is given up when the last
  /// of its agents has ended. `by`: another root of the configuration.
  void leave(const ServedRoot& by);
  bool leaving() const { return leaving_; }
  bool left() const { return leaving_ && engine_->running() == 0 && !engine_->sealing(); }

 private:
  RootService(asio::io_context& loop, ServedRoot served, RootLock lock, Wake wake);
  Result<void> open(const std::string& shim);
  void start_watch();
  void rescan(std::string why);
  void look_for_root();
  void look_into_root();
  void take_configuration(const ServedRoot& by);
  void take_up_schemas();
  void copy_configuration();
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
  Fd reserve_;  ///< a descriptor for writing the status when there are no more
  std::optional<std::string> copied_;  ///< the digest with the copy of the configuration
  std::string copy_fault_;             ///< why no copy could be written
  std::string bad_schema_;  ///< why one that was changed is not taken up; "" when all are
  std::string away_;        ///< why the root is not served at present; "" while it is
  bool bare_ = false;       ///< what is served may be a mount point without its volume
  std::optional<Time> away_since_;
  bool leaving_ = false;
  bool started_ = false;
  Fd state_;  ///< the state folder, to notice that it was removed
  /// The journal's files and what they were, by path only: to notice the same.
  std::vector<std::pair<std::string, Fd>> held_;
  std::shared_ptr<RootFolder> root_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Agents> agents_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Watch> control_;
};

}  // namespace baton
