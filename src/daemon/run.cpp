// SPDX-License-Identifier: Apache-2.0

// The daemon: one event loop with signals, timers and the end of the process. daemon/served_roots
// holds what concerns all roots, daemon/root_service what concerns one root. engine/engine makes
// all decisions.

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <spdlog/spdlog.h>

#include "base/text.h"
#include "daemon/log.h"
#include "daemon/metrics_file.h"
#include "daemon/notifier.h"
#include "daemon/served_roots.h"
#include "daemon/service.h"
#include "findings/report.h"
#include "io/system/clock.h"
#include "io/system/descriptor_limit.h"
#include "io/system/service_manager.h"
#include "io/system/users.h"

namespace baton {
namespace {

constexpr int kServed = 75;  ///< the exit code if another daemon serves the root
constexpr Millis kSecond{1000};
/// How often the daemon looks whether a `notify:` program has ended, so that the next one can
/// start.
constexpr Millis kTellAgain{100};
/// With --once: the daemon gives up if a root is unavailable or the disk is full for this long.
constexpr Millis kAwayForGood{2000};
/// With --once: if no agent runs for this long, the daemon logs what it waits for.
constexpr Millis kPatience{3000};
constexpr std::size_t kMostWaits = 10;
constexpr std::size_t kMostRemarks = 3;  ///< shown in the answer to a reload; the log has all
/// How long the daemon waits for `notify:` programs before it exits: kLastWords if its work is
/// done, kHurry after a signal or an error.
constexpr Millis kLastWords{30'000};
constexpr Millis kHurry{5000};
/// How long the daemon waits for files that it can open, before it ends.
constexpr Millis kStarved{5000};
/// How often the daemon tries the roots that it waits for.
constexpr Millis kLookEvery{2000};
constexpr Millis kPruneEvery{6 * 3'600'000};
/// When to sweep again after the start. At the start, files that a killed daemon left behind are
/// too young: they could be the files of a running command.
constexpr Millis kSweepAgain{65'000};

/// Calls `act` after a while, unless the timer is set again or cancelled before.
template <class Act>
void call_after(asio::steady_timer& timer, Millis time, const Act& act) {
  timer.expires_after(time);
  timer.async_wait([act](const asio::error_code& error) {
    if (!error)
      act();
  });
}

class Service {
 public:
  Service(ServiceConfig config, const ServiceOptions& options)
      : config_(std::move(config)),
        options_(options),
        notifier_(config_),
        metrics_(config_),
        clock_(real_clock()),
        began_(clock_->now()),
        signals_(loop_, SIGTERM, SIGINT, SIGHUP),
        timer_(loop_),
        alive_(loop_),
        look_(loop_),
        prune_(loop_),
        metrics_due_(loop_),
        roots_({loop_, notifier_, options_, *clock_, [this] { wake(); }}) {
    awaited_.replace(config_.awaited);
  }

  int run() {
    for (const std::string& remark : config_.remarks)
      spdlog::warn(printable(remark));
    await_signal();
    std::optional<Error> refused;
    for (const ServedRoot& served : config_.roots) {
      auto taken = take_up(served);
      if (ended_)
        return exit_code_;
      if (taken)
        continue;
      if (config_.roots.size() == 1 || options_.once || is_slip(taken.error()))
        return refuse(taken.error());
      // One root with an error must not keep the others from being served. baton tries this root
      // again.
      refused = taken.error();
      awaited_.add({served.root, [served] { return served; }});
    }
    if (refused && roots_.none())
      return refuse(*refused);
    serving_ = true;
    // Before the first look at all files, which may take longer than a service manager waits.
    // Commands find the daemon from here on, and nothing starts before that look is complete.
    if (const auto heard = manager_.ready(); !heard)
      spdlog::warn(printable(baton::describe(heard.error())) +
                   "; going on without a service manager");
    feed_watchdog();
    step();
    if (!ended_) {
      prune(kSweepAgain);
      write_metrics();
      await_roots();
      loop_.run();
    }
    manager_.stopping();
    if (metrics_.wanted())
      metrics_.write(roots_.metrics(false));
    notifier_.finish(interrupted_ || exit_code_ > 1 ? kHurry : kLastWords);
    return exit_code_;
  }

 private:
  /// Serves a root. If a command works on it, waits for the end of the command.
  Result<void> take_up(const ServedRoot& served) {
    auto root = roots_.take_up(served, config_.shim);
    while (!root && root.error().code == Errc::locked && !ended_) {
      wait_for_end(root.error());
      root = roots_.take_up(served, config_.shim);
    }
    if (!root)
      return pass_on(root);
    if (ended_)
      return {};
    roots_.serve(*std::move(root));
    // If two daemons start at the same time, each has written its status now, so one sees the
    // other.
    return options_.apart(served.root);
  }

  static bool told_wrong(const Error& error) {
    return error.code == Errc::config || error.code == Errc::schema || error.code == Errc::usage ||
           error.code == Errc::newer;
  }

  /// Whether a person has to change the command or the configuration, so that waiting is no use.
  static bool is_slip(const Error& error) {
    return error.code == Errc::served || told_wrong(error);
  }

  static int refuse(const Error& error) {
    spdlog::error(printable(baton::describe(error)) +
                  (error.code == Errc::no_space ? "; free some room and try again" : ""));
    if (error.code == Errc::served)
      return kServed;
    // Files of others stay those of others until a person mends it.
    return told_wrong(error) || error.code == Errc::denied ? 2 : 3;
  }

  void take_up_awaited() {
    awaited_.look(
        [this](const ServedRoot& served) { return roots_.take_up_late(served, config_.shim); });
  }

  void await_roots() {
    take_up_awaited();
    if (awaited_.none())
      return;
    call_after(look_, kLookEvery, [this] { await_roots(); });
  }

  /// Waits up to a second. The daemon handles signals meanwhile.
  void wait_for_end(const Error& of) {
    const std::string why = baton::describe(of);
    if (std::exchange(status_, why) != why) {
      spdlog::warn(printable(why) + "; waiting for its end");
      manager_.status(why);
    }
    loop_.restart();
    loop_.run_for(kSecond);
    loop_.restart();
  }

  void end(int code) {
    exit_code_ = code;
    ended_ = true;
    loop_.stop();
  }

  /// Several inputs of one turn of the loop make one step.
  void wake() {
    if (std::exchange(woken_, true))
      return;
    asio::post(loop_, [this] {
      woken_ = false;
      step();
    });
  }

  /// Whether nothing can be opened any more, because another process lowered the limit of open
  /// files. A step would then take good files for bad ones. A service manager starts the daemon
  /// again, with the limit of its unit.
  bool starved() {
    const auto limit = limit_.look();
    if (!limit.what.empty())
      spdlog::warn(limit.what);
    if (!limit.lost) {
      starved_since_.reset();
      return false;
    }
    const Time now = clock_->now();
    starved_since_ = starved_since_.value_or(now);
    if (now - *starved_since_ < kStarved) {
      call_after(timer_, kSecond, [this] { step(); });
      return true;
    }
    spdlog::critical(
        "no file can be opened any more, because another process lowered the limit of open files; "
        "ending, so that the daemon is started again with its own limit");
    end(static_cast<int>(ExitCode::unreachable));
    return true;
  }

  void step() {
    if (ended_ || !serving_ || starved())
      return;
    // Not only from the timer: an earlier step puts the timer off.
    notifier_.tend();
    if (auto stepped = roots_.step(); !stepped) {
      spdlog::critical(printable(baton::describe(stepped.error())));
      return end(stepped.error().code == Errc::served ? kServed : 3);
    }
    roots_.answer_reloads([this] { return reload(); });
    if (finished())
      return;
    if (options_.once)
      tell_waits();
    const std::string status = roots_.write_statuses() + awaited_.describe();
    if (status != status_)
      manager_.status(status);
    status_ = status;
    arm();
  }

  bool finished() {
    const bool drained = roots_.drained();
    // A root that a person renames or exchanges is back in a moment, so the daemon waits a while.
    const auto away = options_.once ? roots_.away_since() : std::nullopt;
    const bool lost = away && roots_.quiet_elsewhere() && clock_->now() - *away >= kAwayForGood;
    const bool full = options_.once && no_space();
    const auto stuck = options_.once ? lasting_trouble() : std::nullopt;
    if (!drained && !lost && !full && !stuck &&
        !(options_.once && roots_.over(clock_->now(), options_.once->max_wait)))
      return false;
    if (lost)
      spdlog::error("a root is not there any more; what is left to be done in it is not done");
    else if (full)
      spdlog::error(
          "there is no room on the state's disk; what is left to be done is not done: make some, "
          "and run it again");
    else if (stuck)
      spdlog::error("nothing can start; what is left to be done is not done: " +
                    printable(stuck->why));
    else if (drained)
      spdlog::info("drained");
    const int code = lost || full || stuck ? static_cast<int>(ExitCode::unreachable)
                     : options_.once       ? report_once()
                                           : static_cast<int>(ExitCode::fine);
    // The last step may have changed the statuses.
    (void)roots_.write_statuses();
    // Without --once, the first Ctrl-C asks for a drain, and the daemon has done that. With --once,
    // the daemon was to finish all work, and Ctrl-C has prevented that.
    end(interrupts_ > (options_.once ? 0 : 1) ? 130 : code);
    return true;
  }

  /// Says which flows are neither done nor idle, and how many there are. Returns the exit code.
  int report_once() {
    const OnceVerdict verdict = roots_.verdict(began_, *options_.once);
    for (const std::string& line : verdict.lines)
      spdlog::warn(printable(line));
    spdlog::info(totals(verdict));
    return static_cast<int>(verdict.code);
  }

  /// Whether no agent runs and the disk has been full for longer than a person needs to free some
  /// space.
  bool no_space() {
    full_since_ = !roots_.disk_full() ? std::nullopt
                  : full_since_       ? full_since_
                                      : std::optional(clock_->now());
    return full_since_ && roots_.running() == 0 && clock_->now() - *full_since_ >= kAwayForGood;
  }

  /// Why nothing can start, if no agent runs and it will not pass in time.
  std::optional<StartTrouble> lasting_trouble() const {
    auto trouble = roots_.start_trouble();
    const Millis patience = trouble && trouble->passing
                                ? std::max(kAwayForGood, options_.once->max_wait)
                                : kAwayForGood;
    const bool lasts =
        trouble && roots_.running() == 0 && clock_->now() - trouble->since >= patience;
    return lasts ? trouble : std::nullopt;
  }

  /// Logs what the daemon waits for, once no agent has run for a while.
  void tell_waits() {
    const Time now = clock_->now();
    const bool still = roots_.running() == 0;
    if (!std::exchange(still_, still) && still)
      waits_due_ = now + kPatience;
    if (!still)
      waits_due_.reset();
    if (!waits_due_ || now < *waits_due_)
      return;
    waits_due_.reset();
    const std::vector<std::string> waits = roots_.waits();
    for (std::size_t i = 0; i < waits.size() && i < kMostWaits; ++i)
      spdlog::info("waiting for " + printable(waits[i]));
    if (waits.size() > kMostWaits)
      spdlog::info("waiting for " + std::to_string(waits.size() - kMostWaits) + " more");
  }

  void arm() {
    const Time now = clock_->now();
    std::optional<Time> next = roots_.due(now);
    const bool looks =
        notifier_.busy() || roots_.guards_lock() || (options_.once && roots_.away_since());
    const Millis again = notifier_.busy() ? kTellAgain : kSecond;
    if (looks && (!next || *next > now + again))
      next = now + again;
    if (waits_due_ && (!next || *next > *waits_due_))
      next = waits_due_;
    timer_.cancel();
    if (!next)
      return;
    call_after(timer_, std::max(Millis(0), *next - now), [this] { step(); });
  }

  /// Reads the configuration again. Returns what changed and what cannot be used, for people.
  Result<std::string> reload() {
    manager_.reloading();
    auto done = exchange();
    (void)manager_.ready();
    if (!done) {
      done.error().message.insert(0, "the configuration in force stays: ");
      spdlog::error(printable(baton::describe(done.error())));
    } else {
      spdlog::info(printable(*done));
      for (const std::string& remark : config_.remarks)
        spdlog::warn(printable(remark));
      for (std::size_t i = 0; i < config_.remarks.size() && i < kMostRemarks; ++i)
        *done += "; " + config_.remarks[i];
      if (config_.remarks.size() > kMostRemarks)
        *done += "; and " + std::to_string(config_.remarks.size() - kMostRemarks) +
                 " more of the kind: see `baton doctor`";
    }
    wake();
    return done;
  }

  Result<std::string> exchange() {
    auto loaded = options_.load();
    if (!loaded)
      return pass_on(loaded);
    if (auto known = awaited_.check(loaded->awaited); !known)
      return pass_on(known);
    take_up_awaited();
    awaited_.keep(*loaded);
    auto next = roots_.prepare(*loaded);
    if (!next)
      return pass_on(next);
    std::string message = roots_.exchange(*std::move(next));
    config_ = std::move(*loaded);
    awaited_.replace(config_.awaited);
    notifier_.configure(config_);
    metrics_.configure(config_);
    write_metrics();
    if (!metrics_.fault().empty())
      message += "; metrics are not written: " + metrics_.fault();
    return message;
  }

  void await_signal() {
    signals_.async_wait([this](const asio::error_code& error, int signal) {
      if (error)
        return;
      if (signal == SIGHUP && serving_)
        (void)reload();
      else if (signal == SIGTERM || (signal == SIGINT && !serving_))
        detach();
      else if (signal == SIGINT)
        interrupt();
      await_signal();
    });
  }

  /// systemd sends the same signal for stop and restart. So the agents go on under their shims, and
  /// the next daemon adopts them.
  void detach() {
    if (getpid() == 1 && roots_.running() > 0 && !std::exchange(taking_along_, true))
      return take_along();
    spdlog::info("ending; what runs goes on by itself (" + count_agents(roots_.running()) + ")");
    interrupted_ = true;
    end(0);
  }

  /// When PID 1 ends, its container ends, and the kernel kills all other processes at once. So the
  /// daemon first sends SIGTERM to all of them, as a machine does when it shuts down. Runs that end
  /// by this count as interrupted.
  void take_along() {
    spdlog::warn("ending, and " + count_agents(roots_.running()) +
                 " with this container (TERM again leaves at once)");
    interrupted_ = true;
    roots_.drain();
    kill(-1, SIGTERM);
    wake();
  }

  /// The first Ctrl-C drains, the second stops the agents, the third leaves at once.
  void interrupt() {
    ++interrupts_;
    interrupted_ = true;
    if (interrupts_ >= 3)
      return end(130);
    roots_.drain();
    if (interrupts_ == 1)
      spdlog::warn("no new starts; waiting for " + count_agents(roots_.running()) +
                   " (Ctrl-C again ends what runs)");
    else
      spdlog::warn("ending " + count_agents(roots_.running()) +
                   " (Ctrl-C again leaves what runs alone)");
    if (interrupts_ > 1)
      roots_.stop_agents("Ctrl-C");
    wake();
  }

  void feed_watchdog() {
    const auto interval = manager_.watchdog();
    if (!interval)
      return;
    manager_.alive();
    call_after(alive_, *interval / 2, [this] { feed_watchdog(); });
  }

  void write_metrics() {
    metrics_due_.cancel();
    if (!metrics_.wanted())
      return roots_.note_metrics_fault("");
    const std::string before = metrics_.fault();
    metrics_.write(roots_.metrics(true));
    roots_.note_metrics_fault(metrics_.fault());
    // The next step may be far away.
    if (metrics_.fault() != before)
      (void)roots_.write_statuses();
    call_after(metrics_due_, metrics_.interval(), [this] { write_metrics(); });
  }

  void prune(Millis again = kPruneEvery) {
    roots_.prune(config_.retention);
    call_after(prune_, again, [this] {
      roots_.sweep();
      prune();
    });
  }

  ServiceConfig config_;
  AwaitedRoots awaited_;
  const ServiceOptions& options_;
  ServiceManager manager_ = ServiceManager::from_environment();
  Notifier notifier_;
  MetricsFile metrics_;
  std::unique_ptr<Clock> clock_;
  const Time began_;
  asio::io_context loop_{1};
  asio::signal_set signals_;
  asio::steady_timer timer_;
  asio::steady_timer alive_;
  asio::steady_timer look_;
  asio::steady_timer prune_;
  asio::steady_timer metrics_due_;
  ServedRoots roots_;
  std::string status_;
  bool serving_ = false;  ///< all roots are taken up
  bool woken_ = false;
  bool ended_ = false;
  bool interrupted_ = false;
  bool taking_along_ = false;  ///< SIGTERM was sent to all processes of the container
  DescriptorLimit limit_;
  std::optional<Time> starved_since_;  ///< since when nothing can be opened
  std::optional<Time> full_since_;
  bool still_ = false;             ///< no agent runs
  std::optional<Time> waits_due_;  ///< when to log what the daemon waits for
  int exit_code_ = 0;
  int interrupts_ = 0;
};

}  // namespace

int serve(ServiceConfig config, const ServiceOptions& options) {
  begin_log();
  keep_capabilities_from_programs();
  return Service(std::move(config), options).run();
}

}  // namespace baton
