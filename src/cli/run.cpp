// The daemon: signals, timers and inputs of all roots in one event loop. What belongs to one root
// is in cli/root_service, everything that decides in app/engine.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include <unistd.h>

#include <asio.hpp>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "base/text.h"
#include "cli/awaited_roots.h"
#include "cli/context.h"
#include "cli/root_service.h"
#include "cli/service.h"
#include "cli/teller.h"
#include "io/backup_prune.h"
#include "io/clock.h"
#include "io/error_lines.h"
#include "io/run_directory.h"
#include "io/service_manager.h"

namespace baton {
namespace {

constexpr Millis kSecond{1000};
/// How long programs of `notify:` have at the end of a daemon that has come to its end, and of one
/// that was told to leave.
constexpr Millis kLastWords{30'000};
constexpr Millis kHurry{5000};
/// How often a root that is not there yet is looked for.
constexpr Millis kLookEvery{2000};
constexpr Millis kPruneEvery{6 * 3'600'000};

std::string agents(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " agent" : " agents");
}

class ErrorSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    lines_.write({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  ErrorLines lines_{STDERR_FILENO};
};

void start_log() {
  auto logger = std::make_shared<spdlog::logger>("baton", std::make_shared<ErrorSink>());
  // systemd reads `<n>` in front of a line as its priority and stamps the time itself.
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
                      spdlog::pattern_time_type::utc);
}

class Service {
 public:
  Service(ServiceConfig config, const ServiceOptions& options)
      : config_(std::move(config)),
        options_(options),
        teller_(config_),
        clock_(real_clock()),
        signals_(loop_, SIGTERM, SIGINT, SIGHUP),
        timer_(loop_),
        alive_(loop_),
        look_(loop_),
        prune_(loop_) {
    awaited_.replace(config_.awaited);
  }

  int run() {
    for (const std::string& remark : config_.remarks)
      spdlog::warn("{}", printable(remark));
    await_signal();
    for (const ServedRoot& served : config_.roots) {
      auto root = take_up(served, config_.shim);
      while (!root && root.error().code == Errc::busy && !ended_) {
        wait_for_end(root.error());
        root = take_up(served, config_.shim);
      }
      if (ended_)
        return exit_code_;
      if (!root)
        return refuse(root.error());
      serve(*std::move(root));
      // Of two daemons that start at once, each having left its word, one sees the other's.
      if (auto apart = options_.apart(served.root); !apart)
        return refuse(apart.error());
    }
    serving_ = true;
    step();
    if (!ended_) {
      manager_.ready();
      feed_watchdog();
      prune();
      await_roots();
      loop_.run();
    }
    manager_.stopping();
    teller_.finish(interrupted_ || exit_code_ > 1 ? kHurry : kLastWords);
    return exit_code_;
  }

 private:
  static int refuse(const Error& error) {
    spdlog::error("{}{}", printable(baton::describe(error)),
                  error.code == Errc::no_space ? "; free some room and try again" : "");
    if (error.code == Errc::served)
      return 75;
    const bool told_wrong =
        error.code == Errc::config || error.code == Errc::schema || error.code == Errc::usage;
    return told_wrong ? 2 : 3;
  }

  /// Errc::busy: a command is at work there, which ends by itself.
  Result<std::unique_ptr<RootService>> take_up(const ServedRoot& served, const std::string& shim) {
    auto lock = lock_root(served.root, served.state_folder);
    if (!lock && lock.error().code == Errc::served)
      lock.error().message.insert(0, "another daemon serves this root: ");
    if (!lock)
      return pass_on(lock);
    if (auto apart = options_.apart(served.root); !apart)
      return pass_on(apart);
    auto root =
        RootService::make(loop_, served, *std::move(lock), shim, teller_, [this] { wake(); });
    if (!root && root.error().code == Errc::busy)
      root.error().code = Errc::io;
    return root;
  }

  void await_roots() {
    awaited_.look([this](const ServedRoot& served) { return take_up_late(served); });
    if (awaited_.none())
      return;
    look_.expires_after(kLookEvery);
    look_.async_wait([this](const asio::error_code& error) {
      if (!error)
        await_roots();
    });
  }

  Result<void> take_up_late(const ServedRoot& served) {
    std::vector<std::string> all{served.root};
    for (const auto& root : roots_)
      all.push_back(root->root());
    // By another name it may be one of those that are served.
    if (std::count(all.begin(), all.end(), served.root) > 1)
      return {};
    if (auto apart = check_apart(all); !apart)
      return apart;
    auto root = take_up(served, config_.shim);
    if (!root)
      return pass_on(root);
    serve(*std::move(root));
    wake();
    return {};
  }

  /// Signals are heard meanwhile.
  void wait_for_end(const Error& of) {
    const std::string why = baton::describe(of);
    if (std::exchange(status_, why) != why) {
      spdlog::warn("{}; waiting for its end", printable(why));
      manager_.status(why);
    }
    loop_.restart();
    loop_.run_for(kSecond);
    loop_.restart();
  }

  /// Commands find what is served by the word that is left, so it stands before anything happens.
  void serve(std::unique_ptr<RootService> root) {
    root->tell_how(since_);
    spdlog::info("serving {} (state in {}; {})", printable(root->root()),
                 printable(root->state_folder()), root->describe());
    if (draining_)
      root->engine().drain();
    roots_.push_back(std::move(root));
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

  std::uint32_t running() {
    std::size_t all = 0;
    for (const auto& root : roots_)
      all += root->engine().running();
    return static_cast<std::uint32_t>(all);
  }

  void step() {
    if (ended_ || !serving_)
      return;
    bool freed = false;
    // What a root that waits for a place is promised before those behind it: without that a root
    // whose agents end would fill their places again at once, and the others would wait for ever.
    std::uint32_t promised = 0;
    for (const auto& root : roots_) {
      Engine& engine = root->engine();
      const std::size_t before = engine.running();
      engine.running_elsewhere(running() - static_cast<std::uint32_t>(before) + promised);
      if (auto stepped = root->step(); !stepped) {
        spdlog::critical("{}", printable(baton::describe(stepped.error())));
        return end(3);
      }
      freed = freed || engine.running() < before;
      promised += engine.tally().no_place > 0 ? 1U : 0U;
    }
    // Who had a turn is last the next time.
    std::stable_partition(roots_.begin(), roots_.end(),
                          [](const auto& root) { return !root->started(); });
    answer_reloads();
    drain_together();
    give_up_left();
    // A place that became free on one root is for the others too.
    if (roots_.size() > 1 && freed)
      wake();
    if (finished())
      return;
    report();
    arm();
  }

  /// Whoever asked one root to drain meant the daemon, with what it takes up later.
  void drain_together() {
    if (draining_ || std::none_of(roots_.begin(), roots_.end(),
                                  [](const auto& root) { return root->engine().drain_wanted(); }))
      return;
    draining_ = true;
    for (const auto& root : roots_)
      root->engine().drain();
  }

  bool finished() {
    bool quiet = true;
    bool failed = false;
    for (const auto& root : roots_) {
      Engine& engine = root->engine();
      quiet = quiet && engine.quiet();
      failed = failed || engine.tally().failed > 0;
    }
    // The last agent's work is copied before the daemon ends; the programs have a time limit.
    const bool drained = draining_ && running() == 0 &&
                         std::none_of(roots_.begin(), roots_.end(),
                                      [](const auto& root) { return root->engine().sealing(); });
    if (!drained && !(options_.once && quiet))
      return false;
    if (drained)
      spdlog::info("drained");
    const int code = options_.once && failed ? 1 : 0;
    end(interrupts_ > 1 ? 130 : code);
    return true;
  }

  void report() {
    std::size_t flows = 0;
    std::size_t held = 0;
    bool full = false;
    std::string watching;
    for (const auto& root : roots_) {
      const Books& books = root->engine().books();
      flows += books.size() - books.count(FlowId{});
      held += root->engine().tally().held;
      full = full || root->engine().disk_full();
      root->tell_how(since_);
      if (root->polls())
        watching = "; " + root->describe();
    }
    std::string status = std::to_string(running()) + " running, " + std::to_string(flows) +
                         " flows, " + std::to_string(held) + " waiting or held" + watching;
    status += awaited_.describe();
    if (full)
      status += "; DISK FULL: supervising only";
    if (status != status_)
      manager_.status(status);
    status_ = std::move(status);
  }

  void arm() {
    const Time now = clock_->now();
    std::optional<Time> next;
    for (const auto& root : roots_) {
      const auto wake = root->due(now) ? std::optional<Time>(now) : root->engine().wake();
      if (wake && (!next || *wake < *next))
        next = wake;
    }
    if (teller_.busy() && (!next || *next > now + kSecond))
      next = now + kSecond;
    timer_.cancel();
    if (!next)
      return;
    timer_.expires_after(std::max(Millis(0), *next - now));
    timer_.async_wait([this](const asio::error_code& error) {
      if (error)
        return;
      teller_.tend();
      step();
    });
  }

  void answer_reloads() {
    std::vector<std::pair<Engine*, std::string>> asked;
    for (const auto& root : roots_)
      if (auto request = root->engine().reload_wanted())
        asked.emplace_back(&root->engine(), *std::move(request));
    if (asked.empty())
      return;
    const auto done = reload();
    for (const auto& [engine, request] : asked)
      engine->answer(
          Reply{request, done.has_value(), done ? *done : baton::describe(done.error())});
  }

  /// What the new configuration changed, for people.
  Result<std::string> reload() {
    auto done = exchange();
    if (!done) {
      done.error().message.insert(0, "the configuration in force stays: ");
      spdlog::error("{}", printable(baton::describe(done.error())));
    } else {
      spdlog::info("{}", printable(*done));
    }
    wake();
    return done;
  }

  /// What a new configuration comes to.
  struct Exchange {
    std::vector<std::unique_ptr<RootService>> taken_up;
    std::vector<std::pair<RootService*, std::unique_ptr<Works>>> kept;
    std::string message = "the configuration was read again";
  };

  /// All or nothing: whatever can fail comes first, for all roots.
  Result<Exchange> prepare(const ServiceConfig& loaded) {
    if (auto known = awaited_.check(loaded.awaited); !known)
      return pass_on(known);
    Exchange next;
    for (const ServedRoot& served : loaded.roots) {
      const auto known = std::find_if(roots_.begin(), roots_.end(), [&](const auto& root) {
        return root->root() == served.root;
      });
      if (known == roots_.end()) {
        auto root = take_up(served, loaded.shim);
        if (!root)
          return pass_on(root);
        next.taken_up.push_back(*std::move(root));
        next.message += "; " + served.root + " is served now";
        continue;
      }
      if ((*known)->leaving())
        return fail(Errc::busy, "is given up when its last agent has ended; take it up again then",
                    served.root);
      auto works = (*known)->engine().works_of(served.setup);
      if (!works)
        return pass_on(works);
      next.kept.emplace_back(known->get(), *std::move(works));
      if (served.state_folder != (*known)->state_folder())
        next.message += "; the state of " + served.root + " stays in " + (*known)->state_folder() +
                        " until a restart";
    }
    return next;
  }

  Result<std::string> exchange() {
    auto loaded = options_.load();
    if (!loaded)
      return pass_on(loaded);
    auto next = prepare(*loaded);
    if (!next)
      return pass_on(next);
    for (auto& [root, works] : next->kept)
      root->reconfigure(std::move(works));
    for (const auto& root : roots_) {
      const bool named = std::any_of(next->kept.begin(), next->kept.end(),
                                     [&](const auto& each) { return each.first == root.get(); });
      if (named || root->leaving())
        continue;
      root->leave();
      next->message += "; " + root->root() + " is given up when what runs there has ended (" +
                       agents(root->engine().running()) + ")";
    }
    for (auto& root : next->taken_up)
      serve(std::move(root));
    for (const std::string& remark : loaded->remarks)
      spdlog::warn("{}", printable(remark));
    config_ = std::move(*loaded);
    awaited_.replace(config_.awaited);
    teller_.configure(config_);
    return std::move(next->message);
  }

  void give_up_left() {
    std::erase_if(roots_, [](const auto& root) {
      if (root->left())
        spdlog::info("{} is no longer served", printable(root->root()));
      return root->left();
    });
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

  /// systemd sends the same signal for stop and restart: agents go on under their shims, and the
  /// next daemon adopts them.
  void detach() {
    if (getpid() == 1 && running() > 0 && !std::exchange(taking_along_, true))
      return take_along();
    spdlog::info("ending; what runs goes on by itself ({})", agents(running()));
    interrupted_ = true;
    end(0);
  }

  /// With PID 1 a container ends, and the kernel kills at once whatever still runs in it. So all
  /// are told to end first, as a machine does that goes down: what is ended by that was
  /// interrupted.
  void take_along() {
    spdlog::warn("ending, and {} with this container (TERM again leaves at once)",
                 agents(running()));
    interrupted_ = true;
    draining_ = true;
    for (const auto& root : roots_)
      root->engine().drain();
    kill(-1, SIGTERM);
    wake();
  }

  /// Ctrl-C: drain; once more: end the agents; a third time: leave.
  void interrupt() {
    ++interrupts_;
    interrupted_ = true;
    draining_ = true;
    if (interrupts_ >= 3)
      return end(130);
    if (interrupts_ == 1)
      spdlog::warn("no new starts; waiting for {} (Ctrl-C again ends what runs)",
                   agents(running()));
    else
      spdlog::warn("ending {} (Ctrl-C again leaves what runs alone)", agents(running()));
    for (const auto& root : roots_) {
      if (interrupts_ == 1)
        root->engine().drain();
      else
        root->engine().stop_agents("Ctrl-C");
    }
    wake();
  }

  void feed_watchdog() {
    const auto interval = manager_.watchdog();
    if (!interval)
      return;
    manager_.alive();
    alive_.expires_after(*interval / 2);
    alive_.async_wait([this](const asio::error_code& error) {
      if (!error)
        feed_watchdog();
    });
  }

  void prune() {
    for (const auto& root : roots_) {
      auto pruned = prune_journal(root->state_folder(), config_.retention, clock_->wall(),
                                  [](const std::string& directory) {
                                    return static_cast<bool>(remove_run_directory(directory));
                                  });
      if (!pruned)
        spdlog::warn("old history stays: {}", printable(baton::describe(pruned.error())));
      for (const Catalog::Entry& entry : root->engine().catalog().entries()) {
        if (entry.dialect->backups == nullptr)
          continue;
        const auto removed =
            prune_backups(root->root(), entry.dialect->backups(entry.options), clock_->wall());
        if (!removed)
          spdlog::warn("old backups stay: {}", printable(baton::describe(removed.error())));
      }
    }
    prune_.expires_after(kPruneEvery);
    prune_.async_wait([this](const asio::error_code& error) {
      if (error)
        return;
      for (const auto& root : roots_)
        root->sweep();
      prune();
    });
  }

  ServiceConfig config_;
  AwaitedRoots awaited_;
  const ServiceOptions& options_;
  ServiceManager manager_ = ServiceManager::from_environment();
  Teller teller_;
  std::unique_ptr<Clock> clock_;
  asio::io_context loop_{1};
  asio::signal_set signals_;
  asio::steady_timer timer_;
  asio::steady_timer alive_;
  asio::steady_timer look_;
  asio::steady_timer prune_;
  std::vector<std::unique_ptr<RootService>> roots_;
  std::string status_;
  const Time since_ = clock_->wall();
  bool serving_ = false;  ///< all roots are taken up
  bool woken_ = false;
  bool ended_ = false;
  bool interrupted_ = false;
  bool taking_along_ = false;  ///< all processes of the container were told to end
  int exit_code_ = 0;
  int interrupts_ = 0;
  bool draining_ = false;
};

}  // namespace

int serve(ServiceConfig config, const ServiceOptions& options) {
  start_log();
  return Service(std::move(config), options).run();
}

}  // namespace baton
