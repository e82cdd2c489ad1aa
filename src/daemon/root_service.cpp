// SPDX-License-Identifier: Apache-2.0
#include "daemon/root_service.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include "base/digest.h"
#include "base/text.h"
#include "daemon/counters_file.h"
#include "io/agents/agents.h"
#include "io/agents/run_directory.h"
#include "io/files/disk.h"
#include "io/journal/claims.h"
#include "io/journal/daemon_db.h"
#include "io/journal/daemon_runs.h"
#include "io/journal/journal.h"
#include "io/system/clock.h"
#include "io/system/requests.h"
#include "workspace/daemon_environment.h"
#include "workspace/environment.h"

namespace baton {
namespace {

/// How long one `step` may go on. A program that changes a file all the time must not keep the
/// daemon from signals, commands, the watchdog and other files.
constexpr Millis kTurn{100};
/// How long one step of the engine looks at files, and how many ends of agents it takes.
constexpr StepLimits kStepLimits{.time = Millis(250), .files = 0, .ends = 8};
constexpr const char* kBare =
    " is empty, and what was served there last was another folder: nothing is made in what may be "
    "a mount point without its volume. If this is the root, put any file into it: it is looked at "
    "within a minute";

std::string digest_of_configuration(const ServedRoot& served) {
  return served.configuration.empty() ? "" : hex(digest_of(served.configuration_text));
}

/// Reports that the root is unavailable. Only the first report of one absence is an event, because
/// events are passed to people.
void say_away(const std::string& why, bool known, Observer& observer, Clock& clock) {
  if (known)
    return spdlog::warn(printable(why));
  observer.happened(Event{0, clock.wall(), "root_away", {}, {}, {}, {}, why});
}

}  // namespace

Result<std::unique_ptr<RootService>> RootService::make(asio::io_context& loop, ServedRoot served,
                                                       RootLock lock, const std::string& shim,
                                                       std::unique_ptr<Observer> observer,
                                                       Wake wake) {
  auto service = std::unique_ptr<RootService>(
      new RootService(loop, std::move(served), std::move(lock), std::move(wake)));
  service->observer_ = std::move(observer);
  if (auto ready = service->open(shim); !ready)
    return pass_on(ready);
  return service;
}

RootService::RootService(asio::io_context& loop, ServedRoot served, RootLock lock, Wake wake)
    : loop_(loop),
      served_(std::move(served)),
      digest_(digest_of_configuration(served_)),
      prompt_faults_(prompt_faults(served_.setup.dialects)),
      lock_(std::move(lock)),
      wake_(std::move(wake)) {}

Result<void> RootService::open(const std::string& shim) {
  // First, because commands find the daemon by its lock from now on.
  copy_environment();
  auto folder = RootFolder::open(served_.root);
  if (!folder)
    return pass_on(folder);
  root_ = std::move(*folder);
  // After a boot the mount point may be there without its volume. The inode of the last root tells
  // baton that an empty folder is not the root.
  remember_last_root(served_.state_folder, *root_);
  if (auto alone = refuse_agents_without_journal(served_.root, served_.state_folder); !alone)
    return alone;
  std::optional<JournalUpgrade> upgraded;
  auto journal = open_journal(served_.state_folder, &upgraded);
  // On a full disk, baton uses up its reserve of space, because running agents need a daemon.
  while (!journal && journal.error().code == Errc::no_space &&
         release_reserve(served_.state_folder))
    journal = open_journal(served_.state_folder, &upgraded);
  if (!journal)
    return pass_on(journal);
  if (upgraded)
    spdlog::info("the journal of an older baton was brought from version " +
                 std::to_string(upgraded->from) + " to " + std::to_string(upgraded->to) +
                 "; as it was before, it is in " + printable(upgraded->copy));
  journal_ = std::move(*journal);
  read_counters();
  auto state = open_folder(served_.state_folder);
  if (!state)
    return pass_on(state);
  state_ = std::move(*state);
  if (auto held = hold_journal(); !held)
    return pass_on(held);
  auto requests = real_requests(served_.state_folder);
  if (!requests)
    return pass_on(requests);
  requests_ = std::move(*requests);
  disk_ = real_disk(root_);
  clock_ = real_clock();
  providers_ = make_providers(served_.state_folder, false);
  spending_ = make_spending(served_.state_folder, false);
  ProcessAgentsOptions options;
  options.runs.path = runs_folder(served_.state_folder);
  // The group that may read the state folder may also read the output of its agents.
  if (struct stat info{}; fstat(state_.get(), &info) == 0)
    options.runs.group = info.st_gid;
  options.shim = shim;
  options.cgroup = delegated_cgroup();
  options.root = served_.root;
  if (served_.setup.systemd_units) {
    if (auto units = find_systemd_units(); units)
      options.units = std::move(*units);
    else
      spdlog::warn(
          "`backend: { type: systemd }` cannot be used, so agents are started as "
          "processes: " +
          printable(baton::describe(units.error())));
  }
  options.reap_others = getpid() == 1;
  options.keep_spare = true;
  agents_ = process_agents(loop_, std::move(options), [this](RunEnded ended) {
    inputs_.emplace_back(std::move(ended));
    wake_();
  });
  auto engine = Engine::make({*disk_, *journal_, *agents_, *requests_, *clock_, *this, *providers_,
                              *spending_, *zones_, kStepLimits},
                             served_.setup);
  if (!engine)
    return pass_on(engine);
  engine_ = std::move(*engine);
  sweep();
  // Watch before the first scan. Then baton sees a change in between twice instead of missing it.
  start_watch();
  return engine_->recover();
}

/// Before the first event of this daemon. The work goes on without old counters.
void RootService::read_counters() {
  auto counters = baton::read_counters(served_.state_folder, *journal_, served_.setup.agents);
  if (!counters)
    return spdlog::warn("the counters of the metrics begin at 0: " +
                        printable(baton::describe(counters.error())));
  counters_ = kept_counters_ = *std::move(counters);
}

void RootService::happened(const Event& event) {
  observer_->happened(event);
  const auto run = is_counted(event) ? journal_->run(event.run) : Result<std::optional<Run>>();
  counters_.count(event, run ? *run : std::nullopt, served_.setup.agents);
}

RootMetrics RootService::metrics(Time since) {
  const auto kept = counters_ == kept_counters_ ? Result<void>()
                                                : write_counters(served_.state_folder, counters_);
  if (kept)
    kept_counters_ = counters_;
  const std::string why = kept ? "" : printable(baton::describe(kept.error()));
  if (std::exchange(counters_fault_, why) != why && !kept)
    spdlog::warn("the counters of the metrics cannot be kept: " + why);
  RootMetrics metrics =
      // What a monitor has seen must not go back, so only what is kept is shown.
      root_metrics(engine_->records(), engine_->plan(), kept_counters_, served_.setup.agents);
  metrics.root = served_.root;
  metrics.version = BATON_VERSION;
  metrics.started = since;
  if (const auto parked = providers_->parked())
    add_parked(*parked, clock_->now(), metrics);
  for (const auto& [path, file] : held_)
    if (struct stat info{}; !path.ends_with("-shm") && fstat(file.get(), &info) == 0)
      metrics.journal_bytes =
          metrics.journal_bytes.value_or(0) + static_cast<std::uint64_t>(info.st_size);
  return metrics;
}

Result<void> RootService::hold_journal() {
  // The -wal and -shm files belong to the journal. They exist, because the journal is open.
  for (const char* part : {"", "-wal", "-shm"}) {
    const std::string path = journal_path(served_.state_folder) + part;
    Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!file)
      return system_error(errno, "the journal cannot be opened", path);
    held_.emplace_back(path, std::move(file));
  }
  return {};
}

void RootService::sweep() {
  remove_leftovers(*root_, engine_->catalog().folders());
}

void RootService::start_watch() {
  std::vector<WatchedFolder> folders;
  for (const PatternFolder& each : engine_->catalog().folders())
    folders.push_back(WatchedFolder{each.folder, each.depth});
  watch_ = watch(loop_, served_.root, folders, [this](const Changes& changes) {
    engine_->polled(polls());
    for (const std::string& path : changes.paths)
      inputs_.emplace_back(FileChanged{path, {}, changes.complete.contains(path)});
    for (const auto& [from, to] : changes.renames)
      inputs_.emplace_back(FileChanged{to, from, true});
    for (const std::string& why : changes.rescans)
      rescan(why);
    counters_.watch_overflows += changes.rescans.count("overflow");
    wake_();
  });
  engine_->polled(polls());
  WatchOptions quiet;
  quiet.rescan_every = Millis(0);
  control_ = watch(
      loop_, served_.state_folder, {WatchedFolder{"requests", 0}},
      [this](const Changes& changes) {
        // Names that begin with a dot are incomplete files or the reserve, not requests.
        const bool hidden = std::all_of(
            changes.paths.begin(), changes.paths.end(),
            [](const std::string& path) { return path.find("/.") != std::string::npos; });
        if (hidden && changes.rescans.empty())
          return;
        inputs_.emplace_back(RequestsChanged{});
        wake_();
      },
      quiet);
}

std::string RootService::describe() const {
  if (!away_.empty())
    return "the root is waited for: " + away_;
  if (bare_)
    return "the root" + std::string(kBare);
  return watch_ ? watch_->describe() : "not watched";
}

void RootService::tell_foreign(std::string what) {
  foreign_ = std::move(what);
  if (!foreign_.empty())
    observer_->happened(Event{0,
                              clock_->wall(),
                              "foreign_processes",
                              {},
                              {},
                              {},
                              {},
                              foreign_ +
                                  ". An agent may have moved them there. `baton stop --all` ends "
                                  "those that began after the daemon"});
}

bool RootService::polls() const {
  return watch_ && watch_->polls();
}

void RootService::copy_configuration() {
  if (copied_ == digest_)
    return;
  const auto done =
      write_configuration_copy(served_.state_folder, digest_, served_.configuration_text);
  if (done)
    copied_ = digest_;
  const std::string why = done ? "" : printable(baton::describe(done.error()));
  if (std::exchange(copy_fault_, why) != why && !done)
    spdlog::warn("commands cannot see the configuration in use: " + why);
}

void RootService::copy_environment() {
  const auto done = write_daemon_environment(served_.state_folder, getpid(), variables());
  if (!done)
    spdlog::warn("`baton doctor` cannot see the environment of the daemon: " +
                 printable(baton::describe(done.error())));
}

void RootService::note_trouble(const DaemonState& state) {
  RootTrouble now;
  if (away_since_)
    now = {Reason::root_away, describe(), *away_since_};
  else if (engine_->disk_full())
    now = {Reason::disk_full, "the disk of " + served_.state_folder + " is full", clock_->now()};
  else if (state.held && (state.held->cause.reason == Reason::cannot_start ||
                          state.held->cause.reason == Reason::journal_locked))
    now = {state.held->cause.reason, state.held->why, clock_->now()};
  else
    return trouble_.reset();
  if (trouble_ && trouble_->reason == now.reason)
    now.since = trouble_->since;
  trouble_ = std::move(now);
}

void RootService::write_status(Time since) {
  // The copy comes before the status: a command finds the copy by the digest in the status.
  copy_configuration();
  DaemonState state = engine_->daemon_state();
  note_trouble(state);
  const DaemonStatus status{.pid = getpid(),
                            .root = served_.root,
                            .configuration = served_.configuration,
                            .configuration_digest = digest_,
                            .since = iso_time(since),
                            .watching = describe() + (foreign_.empty() ? "" : "; " + foreign_),
                            .polls = polls(),
                            .root_inode = static_cast<std::int64_t>(root_->inhabited()),
                            .disk_full = engine_->disk_full(),
                            .trouble = trouble_,
                            .state = std::move(state),
                            .prompt_faults = prompt_faults_,
                            .metrics_fault = metrics_fault_};
  // The daemon does not need the status itself, so it goes on when the disk refuses the status.
  bool left = status == status_ || write_daemon_status(served_.state_folder, status);
  if (!left) {
    // Perhaps no descriptor is left. People have to learn that too, so free the one in reserve.
    reserve_ = Fd();
    left = write_daemon_status(served_.state_folder, status).has_value();
  }
  if (left)
    status_ = status;
  if (!reserve_)
    reserve_ = Fd(fcntl(state_.get(), F_DUPFD_CLOEXEC, 0));
}

Result<void> RootService::step() {
  // If the journal was removed, the next daemon does not find what this daemon writes now. The next
  // daemon would start everything a second time.
  if (!leads_to(served_.state_folder, state_.get()) ||
      !std::all_of(held_.begin(), held_.end(),
                   [](const auto& row) { return leads_to(row.first, row.second.get()); }))
    return fail(Errc::io,
                "the state folder or a file of its journal (journal.db, -wal, -shm) was removed or "
                "replaced while in use",
                served_.state_folder);
  if (auto kept = keep_lock(); !kept)
    return kept;
  if (!root_->is_current())
    look_for_root();
  if (away_.empty())
    look_into_root();
  if (std::any_of(inputs_.begin(), inputs_.end(),
                  [](const Input& each) { return std::holds_alternative<Rescan>(each); }))
    take_up_schemas();
  started_ = false;
  const Time end = clock_->now() + kTurn;
  do {
    auto stepped = engine_->step(std::exchange(inputs_, {}));
    if (!stepped)
      return stepped;
    started_ = started_ || !engine_->plan().starts.empty();
  } while (!inputs_.empty() || (engine_->pending() && clock_->now() < end));
  return {};
}

bool RootService::due(Time now) const {
  const auto wake = engine_->wake();
  return !inputs_.empty() || engine_->pending() || (wake && *wake <= now);
}

void RootService::rescan(std::string why) {
  inputs_.emplace_back(Rescan{std::move(why)});
}

/// Notes which configuration is in force, so that commands can see it.
void RootService::take_configuration(const ServedRoot& by) {
  served_.configuration = by.configuration;
  served_.configuration_text = by.configuration_text;
  copied_.reset();
  digest_ = digest_of_configuration(by);
}

void RootService::reconfigure(std::unique_ptr<ConfiguredParts> parts, const ServedRoot& by) {
  take_configuration(by);
  if (by.setup.systemd_units != served_.setup.systemd_units)
    spdlog::warn("`backend` has changed; it counts when the daemon is started again");
  served_.setup = by.setup;
  prompt_faults_ = prompt_faults(served_.setup.dialects);
  // The state folder stays the same while the root is served, even if the configuration names
  // another.
  set_place_variables(served_.state_folder, served_.setup.environment.variables);
  bad_schema_.clear();
  engine_->reconfigure(std::move(parts));
  start_watch();
}

/// Reads a changed schema at the next rescan, because commands use the schemas as they are on disk.
/// It does not read the configuration again: that file may be half written, and a person asks for a
/// reload when it is complete.
void RootService::take_up_schemas() {
  const auto changed = engine_->changed_schema();
  auto parts = changed ? engine_->configured_parts_of(served_.setup)
                       : Result<std::unique_ptr<ConfiguredParts>>();
  const std::string why = parts ? "" : printable(baton::describe(parts.error()));
  if (std::exchange(bad_schema_, why) != why && !parts)
    spdlog::error(why + "; the one that was read before stays in force");
  if (!changed || !parts)
    return;
  spdlog::info("the schema " + printable(*changed) + " was changed and is read anew");
  engine_->reconfigure(*std::move(parts));
}

void RootService::leave(const ServedRoot& by) {
  leaving_ = true;
  take_configuration(by);
  engine_->give_up();
}

/// In each step, so that nothing starts after another daemon has taken the place of this one.
Result<void> RootService::keep_lock() {
  if (!lock_.beside())
    return {};
  auto kept = lock_.keep(served_.root);
  if (!kept && kept.error().code == Errc::served) {
    kept.error().message.insert(0,
                                "another daemon serves this root now, because .baton.lock was "
                                "removed while a stranger locks the root: it ");
    return pass_on(kept);
  }
  if (kept && !kept->empty())
    spdlog::info(printable(served_.root + ": " + *kept));
  const std::string why = kept ? "" : printable(baton::describe(kept.error()));
  if (std::exchange(lock_fault_, why) != why && !kept)
    spdlog::warn(why + "; the root is served all the same, and it is tried again");
  return {};
}

/// The root was renamed, deleted or created again. baton locks the folder that is now at its path
/// before it reads the folder. If that fails for any reason, the root is unavailable and baton
/// assumes nothing about its files. Each step tries again, so each event and each rescan does.
void RootService::look_for_root() {
  root_->release();
  lock_.release_root();
  auto taken = lock_.lock_root_folder(served_.root);
  if (!taken) {
    const std::string& why = taken.error().message;
    const bool known = away_since_.has_value();
    away_since_ = away_since_.value_or(clock_->now());
    if (std::exchange(away_, why) != why)
      say_away(served_.root + " is waited for: " + why, known, *observer_, *clock_);
    return;
  }
  const bool same = leads_to(served_.root, root_->fd());
  root_->hold(*std::move(taken));
  away_.clear();
  spdlog::warn(printable(served_.root) +
               (same ? " is back and served again" : " was replaced; the new folder is served"));
  // A mount gives no event.
  if (!same)
    start_watch();
  rescan("root_replaced");
}

/// Checks whether the root may be a mount point without its volume. While it may, baton assumes
/// nothing about its files.
void RootService::look_into_root() {
  // baton knows no flow here, so no file can be missing and an empty folder can be the root.
  const FlowRecords& records = engine_->records();
  if (records.size() == records.count(FlowId{}))
    root_->accept_as_root();
  const bool bare = root_->may_be_unmounted();
  const bool known = away_since_.has_value();
  if (bare)
    away_since_ = away_since_.value_or(clock_->now());
  else
    away_since_.reset();
  if (std::exchange(bare_, bare) == bare)
    return;
  if (bare)
    return say_away(served_.root + kBare, known, *observer_, *clock_);
  spdlog::info("there is something in " + printable(served_.root) + " again");
  rescan("root_replaced");
}

}  // namespace baton
