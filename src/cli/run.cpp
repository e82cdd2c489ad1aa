// The daemon: signals, timers and inputs of all roots in one event loop (the only user of Asio
// above io). Everything that decides is in app/engine.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <asio.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "app/status.h"
#include "base/text.h"
#include "cli/served.h"
#include "cli/service.h"
#include "io/agents.h"
#include "io/clock.h"
#include "io/disk.h"
#include "io/hook.h"
#include "io/journal.h"
#include "io/lock.h"
#include "io/requests.h"
#include "io/root.h"
#include "io/run_directory.h"
#include "io/service_manager.h"
#include "io/watch.h"

namespace baton {
namespace {

constexpr Millis kSecond{1000};
constexpr Millis kPruneEvery{6 * 3'600'000};

/// Words of events that `notify:` hears of: what a person would want to know.
bool worth_telling(const Event& event) {
  static constexpr std::array kWords = {
      std::string_view("notice"),   std::string_view("held"),
      std::string_view("paused"),   std::string_view("rejected"),
      std::string_view("conflict"), std::string_view("disk_full"),
      std::string_view("restored"), std::string_view("gone"),
      std::string_view("finished"), std::string_view("could_not_stop")};
  if (event.event == "ended")
    return !event.why.starts_with("succeeded");
  return std::find(kWords.begin(), kWords.end(), event.event) != kWords.end();
}

spdlog::level::level_enum level_of(const Event& event) {
  if (event.event == "ended" && event.why.starts_with("succeeded"))
    return spdlog::level::info;
  return worth_telling(event) ? spdlog::level::warn : spdlog::level::info;
}

/// One line per event on stderr; under systemd with the priority it reads.
class Teller final : public Observer {
 public:
  explicit Teller(ServiceConfig& config) { configure(config); }

  void configure(const ServiceConfig& config) {
    if (config.notify == notify_)
      return;
    notify_ = config.notify;
    hook_ = command_hook(config.notify, config.notify_env);
  }

  void happened(const Event& event) override {
    std::string line = event.event;
    if (event.flow != FlowId{})
      line += " " + text(event.flow);
    if (!event.subject.empty())
      line += " [" + event.subject + "]";
    if (!event.role.empty())
      line += " " + event.role;
    if (!event.run.empty())
      line += " run " + event.run.substr(0, 8);
    if (!event.why.empty())
      line += ": " + event.why;
    spdlog::log(level_of(event), "{}", printable(line));
    if (!worth_telling(event))
      return;
    // Its number is the journal's; here it is not known.
    Json told = event_json(event);
    told.erase("seq");
    hook_->tell(told.dump());
  }

  Hook& hook() { return *hook_; }

 private:
  std::vector<std::string> notify_ = {""};
  std::unique_ptr<Hook> hook_;
};

void start_log() {
  auto logger =
      std::make_shared<spdlog::logger>("baton", std::make_shared<spdlog::sinks::stderr_sink_st>());
  // systemd reads `<n>` in front of a line as its priority and stamps the time itself.
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
                      spdlog::pattern_time_type::utc);
}

/// Everything that belongs to one root.
class RootService {
 public:
  using Wake = std::function<void()>;

  /// Errc::served: another daemon serves it.
  static Result<std::unique_ptr<RootService>> make(asio::io_context& loop, ServedRoot served,
                                                   const ServiceConfig& config, Teller& teller,
                                                   Wake wake) {
    auto service =
        std::unique_ptr<RootService>(new RootService(loop, std::move(served), std::move(wake)));
    if (auto ready = service->open(config, teller); !ready)
      return pass_on(ready);
    return service;
  }

  Engine& engine() { return *engine_; }
  const std::string& root() const { return served_.root; }
  const std::string& state_folder() const { return served_.state_folder; }
  std::string describe() const { return watch_ ? watch_->describe() : "not watched"; }
  /// Nothing depends on the word, so a disk that does not take it stops nothing.
  void tell_how(Time since) {
    const Served word{getpid(), iso_time(since),      describe(),
                      polls(),  engine_->disk_full(), engine_->said()};
    if (word != word_ && leave_word(served_.state_folder, word))
      word_ = word;
  }
  bool polls() const { return watch_ && watch_->polls(); }

  /// Works off what came in. Errc::io ends the daemon.
  Result<void> step() {
    // What is written into a journal that was removed is lost with the next restart, and then
    // everything is started a second time.
    if (!leads_to(served_.state_folder, state_.get()) ||
        !leads_to(journal_file_, held_journal_.get()))
      return fail(Errc::io, "the state folder or its journal was removed or replaced while in use",
                  served_.state_folder);
    if (!root_->is_current())
      if (auto back = take_new_root(); !back)
        return back;
    do {
      auto stepped = engine_->step(std::exchange(inputs_, {}));
      if (!stepped)
        return stepped;
    } while (engine_->pending() || !inputs_.empty());
    return {};
  }

  bool due(Time now) const {
    const auto wake = engine_->wake();
    return !inputs_.empty() || engine_->pending() || (wake && *wake <= now);
  }

  void rescan(std::string why) { inputs_.emplace_back(Rescan{std::move(why)}); }

  Result<void> reconfigure(Setup setup) {
    if (auto done = engine_->reconfigure(std::move(setup)); !done)
      return done;
    start_watch();
    return {};
  }

 private:
  RootService(asio::io_context& loop, ServedRoot served, Wake wake)
      : loop_(loop), served_(std::move(served)), wake_(std::move(wake)) {}

  Result<void> open(const ServiceConfig& config, Teller& teller) {
    auto lock = lock_root(served_.root, served_.state_folder);
    if (!lock)
      return pass_on(lock);
    lock_.emplace(std::move(*lock));
    auto folder = RootFolder::open(served_.root);
    if (!folder)
      return pass_on(folder);
    root_ = std::move(*folder);
    auto journal = open_journal(served_.state_folder);
    if (!journal)
      return pass_on(journal);
    journal_ = std::move(*journal);
    journal_file_ = journal_path(served_.state_folder);
    auto state = open_folder(served_.state_folder);
    if (!state)
      return pass_on(state);
    state_ = std::move(*state);
    held_journal_ = Fd(::open(journal_file_.c_str(), O_PATH | O_CLOEXEC));
    if (!held_journal_)
      return fail(Errc::io, "the journal cannot be opened", journal_file_);
    auto requests = real_requests(served_.state_folder);
    if (!requests)
      return pass_on(requests);
    requests_ = std::move(*requests);
    disk_ = real_disk(root_);
    clock_ = real_clock();
    ProcessAgentsOptions options;
    options.runs.path = served_.state_folder + "/runs";
    options.shim = config.shim;
    options.reap_others = getpid() == 1;
    agents_ = process_agents(loop_, std::move(options), [this](RunEnded ended) {
      inputs_.emplace_back(std::move(ended));
      wake_();
    });
    auto engine =
        Engine::make({*disk_, *journal_, *agents_, *requests_, *clock_, teller}, served_.setup);
    if (!engine)
      return pass_on(engine);
    engine_ = std::move(*engine);
    std::vector<std::string> folders;
    for (const PatternFolder& each : engine_->catalog().folders())
      folders.push_back(each.folder);
    sweep_litter(*root_, folders);
    // Watched first, then scanned: what changes in between is seen twice, never not at all.
    start_watch();
    return engine_->recover();
  }

  void start_watch() {
    std::vector<WatchedFolder> folders;
    for (const PatternFolder& each : engine_->catalog().folders())
      folders.push_back(WatchedFolder{each.folder, each.depth});
    watch_ = watch(loop_, served_.root, folders, [this](const Changes& changes) {
      for (const std::string& path : changes.paths)
        inputs_.emplace_back(FileChanged{path});
      for (const std::string& why : changes.rescans)
        rescan(why);
      wake_();
    });
    WatchOptions quiet;
    quiet.rescan_every = Millis(0);
    control_ = watch(
        loop_, served_.state_folder, {WatchedFolder{"requests", 0}},
        [this](const Changes&) {
          inputs_.emplace_back(RequestsChanged{});
          wake_();
        },
        quiet);
  }

  /// The root was renamed, deleted or made anew: the new one is locked before it is read.
  Result<void> take_new_root() {
    std::error_code gone;
    if (!std::filesystem::is_directory(served_.root, gone))
      return {};  // it is waited for; its flows are gone until then
    lock_.reset();
    auto lock = lock_root(served_.root, served_.state_folder);
    if (!lock)
      return pass_on(lock);
    lock_.emplace(std::move(*lock));
    if (auto opened = root_->reopen(); !opened)
      return opened;
    spdlog::warn("{} was replaced; the new folder is served", printable(served_.root));
    rescan("root_replaced");
    return {};
  }

  asio::io_context& loop_;
  ServedRoot served_;
  Wake wake_;
  std::vector<Input> inputs_;
  Served word_;
  std::string journal_file_;
  Fd state_;         ///< the state folder, to notice that it was removed
  Fd held_journal_;  ///< the journal's file, by path only: to notice the same
  std::optional<RootLock> lock_;
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
        prune_(loop_) {}

  int run() {
    for (const std::string& remark : config_.remarks)
      spdlog::warn("{}", printable(remark));
    for (const ServedRoot& served : config_.roots) {
      auto root = RootService::make(loop_, served, config_, teller_, [this] { wake(); });
      if (!root) {
        const bool served_already = root.error().code == Errc::served;
        spdlog::error("{}{}", served_already ? "another daemon serves this root: " : "",
                      printable(baton::describe(root.error())));
        return start_failure(root.error().code);
      }
      spdlog::info("serving {} (state in {}; {})", printable(served.root),
                   printable(served.state_folder), (*root)->describe());
      roots_.push_back(std::move(*root));
    }
    await_signal();
    step();
    if (!ended_) {
      manager_.ready();
      feed_watchdog();
      prune();
      loop_.run();
    }
    manager_.stopping();
    return exit_code_;
  }

 private:
  static int start_failure(Errc code) {
    if (code == Errc::served)
      return 75;
    return code == Errc::config || code == Errc::schema || code == Errc::usage ? 2 : 3;
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
    if (ended_)
      return;
    const std::uint32_t before = running();
    for (const auto& root : roots_) {
      Engine& engine = root->engine();
      engine.running_elsewhere(running() - static_cast<std::uint32_t>(engine.running()));
      if (auto stepped = root->step(); !stepped) {
        spdlog::critical("{}", printable(baton::describe(stepped.error())));
        return end(stepped.error().code == Errc::served ? 75 : 3);
      }
      if (const auto request = engine.reload_wanted())
        engine.answer(reload(*request));
    }
    // A place that became free on one root is for the others too.
    if (roots_.size() > 1 && running() < before)
      for (const auto& root : roots_)
        root->rescan("timer");
    if (finished())
      return;
    report();
    arm();
  }

  bool finished() {
    bool quiet = true;
    bool draining = true;
    bool failed = false;
    for (const auto& root : roots_) {
      Engine& engine = root->engine();
      quiet = quiet && engine.quiet();
      draining = draining && engine.draining();
      for (const auto& [flow, book] : engine.books())
        failed = failed || book.failed;
    }
    if (options_.once && quiet) {
      end(failed ? 1 : 0);
      return true;
    }
    if (draining && running() == 0) {
      spdlog::info("drained");
      end(0);
      return true;
    }
    return false;
  }

  void report() {
    std::size_t flows = 0;
    std::size_t held = 0;
    bool full = false;
    std::string watching;
    for (const auto& root : roots_) {
      for (const auto& [flow, book] : root->engine().books()) {
        flows += flow == FlowId{} ? 0U : 1U;
        held += book.holds.empty() ? 0U : 1U;
      }
      full = full || root->engine().disk_full();
      root->tell_how(since_);
      if (root->polls())
        watching = "; " + root->describe();
    }
    std::string status = std::to_string(running()) + " running, " + std::to_string(flows) +
                         " flows, " + std::to_string(held) + " waiting or held" + watching;
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
    if (teller_.hook().busy() && (!next || *next > now + kSecond))
      next = now + kSecond;
    timer_.cancel();
    if (!next)
      return;
    timer_.expires_after(std::max(Millis(0), *next - now));
    timer_.async_wait([this](const asio::error_code& error) {
      if (error)
        return;
      teller_.hook().tend();
      step();
    });
  }

  Reply reload(const std::string& request) {
    Reply reply{request, false, ""};
    auto loaded = options_.load();
    if (!loaded) {
      reply.message = "the configuration in force stays: " + baton::describe(loaded.error());
      spdlog::error("{}", printable(reply.message));
      return reply;
    }
    for (const ServedRoot& served : loaded->roots) {
      for (const auto& root : roots_) {
        if (root->root() != served.root)
          continue;
        if (auto done = root->reconfigure(served.setup); !done) {
          reply.message = "the configuration in force stays: " + baton::describe(done.error());
          spdlog::error("{}", printable(reply.message));
          return reply;
        }
      }
    }
    for (const std::string& remark : loaded->remarks)
      spdlog::warn("{}", printable(remark));
    config_ = std::move(*loaded);
    teller_.configure(config_);
    reply.accepted = true;
    reply.message = "the configuration was read again";
    if (config_.roots.size() != roots_.size())
      reply.message += "; roots are taken up or given up by a restart only";
    spdlog::info("{}", reply.message);
    wake();
    return reply;
  }

  void await_signal() {
    signals_.async_wait([this](const asio::error_code& error, int signal) {
      if (error)
        return;
      if (signal == SIGHUP)
        (void)reload("");
      else if (signal == SIGTERM)
        detach();
      else
        interrupt();
      await_signal();
    });
  }

  /// systemd sends the same signal for stop and restart: agents go on under their shims, and the
  /// next daemon adopts them.
  void detach() {
    spdlog::info("ending; {} agents go on by themselves", running());
    end(0);
  }

  /// Ctrl-C: drain; once more: end the agents; a third time: leave.
  void interrupt() {
    ++interrupts_;
    if (interrupts_ >= 3)
      return end(130);
    if (interrupts_ == 1)
      spdlog::warn("no new starts; waiting for {} agents (Ctrl-C again ends them)", running());
    else
      spdlog::warn("ending {} agents (Ctrl-C again leaves them alone)", running());
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
    }
    prune_.expires_after(kPruneEvery);
    prune_.async_wait([this](const asio::error_code& error) {
      if (!error)
        prune();
    });
  }

  ServiceConfig config_;
  const ServiceOptions& options_;
  ServiceManager manager_ = ServiceManager::from_environment();
  Teller teller_;
  std::unique_ptr<Clock> clock_;
  asio::io_context loop_{1};
  asio::signal_set signals_;
  asio::steady_timer timer_;
  asio::steady_timer alive_;
  asio::steady_timer prune_;
  std::vector<std::unique_ptr<RootService>> roots_;
  std::string status_;
  const Time since_ = clock_->wall();
  bool woken_ = false;
  bool ended_ = false;
  int exit_code_ = 0;
  int interrupts_ = 0;
};

}  // namespace

int serve(ServiceConfig config, const ServiceOptions& options) {
  start_log();
  return Service(std::move(config), options).run();
}

}  // namespace baton
