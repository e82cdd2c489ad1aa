#pragma once

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
#include "daemon/root_service.h"
#include "daemon/service.h"

namespace baton {

/// All roots that one daemon serves. They share its limits, its configuration and its end.
class ServedRoots {
 public:
  /// What each of them is made with. All of it outlives this object.
  struct Means {
    asio::io_context& loop;
    Notifier& notifier;
    const ServiceOptions& options;
    Clock& clock;
    std::function<void()> wake;  ///< to be called when there is something to `step` for
  };
  explicit ServedRoots(Means means) : means_(std::move(means)), since_(means_.clock.wall()) {}

  /// Takes the lock and all that belongs to it; the root is not served yet. Errc::locked: a command
  /// is at work there, which ends by itself. Errc::served: another daemon.
  Result<std::unique_ptr<RootService>> take_up(const ServedRoot& served, const std::string& shim);
  void serve(std::unique_ptr<RootService> root);
  /// Both, for one that was waited for. By another name it may be served already: then it is left
  /// alone.
  Result<void> take_up_late(const ServedRoot& served, const std::string& shim);

  /// One turn of each. An error ends the daemon.
  Result<void> step();
  /// When there is something to `step` for without an input.
  std::optional<Time> due(Time now) const;

  bool none() const { return roots_.empty(); }
  std::uint32_t running() const;
  /// Nothing runs, waits or is to be done, and no root is away.
  bool quiet() const;
  /// Since when the first root is away; nothing while all are there.
  std::optional<Time> away_since() const;
  /// The disk of some root's state has no room.
  bool disk_full() const;
  /// Nothing runs, waits or is to be done in those that are not away, and nothing runs at all.
  bool quiet_elsewhere() const;
  /// Some flow failed, or has a write of baton's own that was refused.
  bool failed() const;
  /// How many flows something stands against.
  std::size_t held() const;
  /// What is waited for, `FLOW: why` of each flow that goes on by itself or knows when it looks
  /// again.
  std::vector<std::string> waits() const;

  /// No new starts from now on, nor in a root that is taken up later.
  void drain();
  /// What a drain waits for has ended.
  bool drained() const;
  void stop_agents(const std::string& why);

  /// Writes the status of each for commands, and returns a line for people about all of them.
  std::string write_statuses();

  /// What a new configuration comes to, with everything made that can fail.
  struct Exchange {
    std::vector<std::unique_ptr<RootService>> taken_up;
    struct Kept {
      RootService* root = nullptr;
      std::unique_ptr<ConfiguredParts> parts;
      const ServedRoot* by = nullptr;  ///< of what was loaded
    };
    std::vector<Kept> kept;
    const ServedRoot* any = nullptr;  ///< of those that were loaded
    std::string message = "the configuration was read again";
  };
  /// `loaded` outlives it.
  Result<Exchange> prepare(const ServiceConfig& loaded);
  /// Puts it in force and says for people what it changed.
  std::string exchange(Exchange next);
  /// Answers who asked for it, with what `reload` came to; it is not called when nobody did.
  void answer_reloads(const std::function<Result<std::string>()>& reload);

  /// What killed daemons have left beside the files, and history that is old enough.
  void sweep();
  void prune(const Retention& retention);

 private:
  void drain_together();
  void give_up_left();

  Means means_;
  std::vector<std::unique_ptr<RootService>> roots_;
  Time since_;
  bool draining_ = false;
};

/// "1 agent", "2 agents".
std::string count_agents(std::size_t count);

/// The roots of the configuration that were not there when the daemon began, or could not be had:
/// made, mounted or mended later, they are taken up then.
class AwaitedRoots {
 public:
  /// Errc::not_found: one that was not waited for so far, which is rather a slip of who wrote it.
  Result<void> check(const std::vector<AwaitedRoot>& loaded) const;
  void replace(std::vector<AwaitedRoot> roots) { roots_ = std::move(roots); }
  void add(AwaitedRoot root) { roots_.push_back(std::move(root)); }
  /// Has that configuration wait for the same roots, unless it names no other: a root that is
  /// broken does not keep the others from a reload.
  void keep(ServiceConfig& loaded) const;

  /// Hands over what is there by now and forgets what was taken; the rest is told once.
  void look(const std::function<Result<void>(const ServedRoot&)>& take);
  bool none() const { return roots_.empty(); }
  /// `; ROOT is waited for`, of each.
  std::string describe() const;

 private:
  std::vector<AwaitedRoot> roots_;
  std::map<std::string, std::string> told_;  ///< by path
};

}  // namespace baton
