#include "io/agents.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "io/process.h"
#include "io/run_verdict.h"
#include "io/spawn.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::size_t kRunIdBytes = 16;
constexpr std::chrono::seconds kLookAgain{1};
constexpr std::chrono::milliseconds kSpareAfter{10};
/// An agent whose shim was killed has lost its output and its limits already; there is little to
/// wait for.
constexpr Millis kSweepGrace{2'000};
constexpr int kMaxSweeps = 10;

enum class Standing { parked, watched, polled, sweeping, retrying, dropped };

struct Watch {
  Watch(asio::io_context& context, RunId run, std::string path)
      : id(std::move(run)), directory(std::move(path)), process(context), timer(context) {}

  RunId id;
  std::string directory;
  Standing standing = Standing::retrying;
  asio::posix::stream_descriptor process;  ///< pidfd of the shim or the sweeper
  asio::steady_timer timer;
  std::int64_t pid = 0;
  Fd go;
  Millis kill_grace{0};
  bool stop_wanted = false;
  bool shim_ended = false;  ///< while parked
  int shim_exit = 0;        ///< of a child that has ended
  int failed_sweeps = 0;    ///< sweepers that left without having recorded anything
};
using WatchPtr = std::shared_ptr<Watch>;

/// A shim that waits to be told its run. Its id, its directory and its process become the run's.
struct Spare {
  WatchPtr run;
  SpareDirectory place;
  Fd launch;  ///< a file in memory
  std::uint64_t start_ticks = 0;
};

/// A shim that was not let go has nothing to end but itself and the process that stands behind it.
/// It is waited for: it may be making a file in the directory that is about to be removed.
void end_parked(Watch& run) {
  run.go.reset();
  if (run.pid == 0 || run.shim_ended)
    return;
  const Fd process(run.process.release());
  (void)send_signal(process.get(), SIGKILL);
  pollfd watched{process.get(), POLLIN, 0};
  while (poll(&watched, 1, -1) < 0 && errno == EINTR) {}
  (void)reap(process);
  run.shim_ended = true;
}

/// What the exit of a shim says that has made no claim.
std::string why_not_claimed(int exit) {
  if (exit == static_cast<int>(shim::ShimExit::bad_call))
    return kShimMisfit;
  return exit == static_cast<int>(shim::ShimExit::no_claim) ? kShimUnready : kNotClaimed;
}

class ProcessAgents : public Agents {
 public:
  ProcessAgents(asio::io_context& context, ProcessAgentsOptions options,
                std::function<void(RunEnded)> on_end)
      : context_(context),
        options_(std::move(options)),
        on_end_(std::move(on_end)),
        children_(context),
        spare_turn_(context),
        look_(context),
        boot_id_(boot_id()) {
    signal(SIGPIPE, SIG_IGN);
    (void)remove_spare_directories(options_.runs);  // what a killed daemon had in hand
    if (options_.reap_others) {
      children_.add(SIGCHLD);
      await_children();
    }
  }
  ~ProcessAgents() override {
    if (spare_)
      drop(*spare_);
  }
  ProcessAgents(const ProcessAgents&) = delete;
  ProcessAgents& operator=(const ProcessAgents&) = delete;
  ProcessAgents(ProcessAgents&&) = delete;
  ProcessAgents& operator=(ProcessAgents&&) = delete;

  Result<Prepared> prepare(const Launch& launch) override;
  Result<void> release(const RunId& id) override;
  void discard(const RunId& id) override;
  void revoke(const RunId& id) override;
  Result<void> stop(const Run& wanted) override;
  Found recover(const Run& lost) override;
  std::optional<Time> last_output(const Run& run) override { return last_output_in(run.directory); }

 private:
  Result<Prepared> prepare(const Launch& launch, Spare spare);
  Result<Spare> make_spare();
  Result<void> start_shim(Spare& spare);
  static void drop(const Spare& spare);
  void keep_spare();
  void watch(const WatchPtr& run, Standing standing, Fd process);
  void look_again(const WatchPtr& run, Standing standing);
  void look_for_stopped();
  void shim_ended(const WatchPtr& run);
  void decide(const WatchPtr& run);
  void act_on(const WatchPtr& run, RunVerdict verdict);
  void sweep(const WatchPtr& run, const RunVerdict& verdict);
  void report(const WatchPtr& run, RunEnd end);
  WatchPtr find(const RunId& run) const;
  void await_children();

  asio::io_context& context_;
  ProcessAgentsOptions options_;
  std::function<void(RunEnded)> on_end_;
  asio::signal_set children_;
  asio::steady_timer spare_turn_;
  asio::steady_timer look_;  ///< for shims that stand still
  std::string boot_id_;
  /// Handlers hold weak pointers only: what is not in here any more, nobody hears of.
  std::map<RunId, WatchPtr> runs_;
  std::optional<Spare> spare_;
  bool waits_for_turn_ = false;
  bool looks_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  ///< for handlers that may come late
};

/// A shim that stands still, most likely stopped by its own agent, neither keeps to its limits nor
/// tells of an end.
void ProcessAgents::look_for_stopped() {
  if (std::exchange(looks_, true))
    return;
  look_.expires_after(options_.look_every);
  look_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
    if (error || here.expired())
      return;
    looks_ = false;
    for (const auto& [id, run] : runs_) {
      if (run->standing != Standing::watched)
        continue;
      look_for_stopped();
      const auto stat = process_stat(run->pid);
      if (stat && stat->state == 'T')
        (void)send_signal(run->process.native_handle(), SIGCONT);
    }
  });
}

WatchPtr ProcessAgents::find(const RunId& run) const {
  const auto at = runs_.find(run);
  return at == runs_.end() ? nullptr : at->second;
}

Result<Prepared> ProcessAgents::prepare(const Launch& launch) {
  // What no process can be given is refused before anything is made.
  if (auto text = launch_text(launch, {}, {}, {}); !text)
    return tl::unexpected(text.error());
  if (spare_) {
    Spare spare = std::move(*spare_);
    spare_.reset();
    if (spare.run->shim_ended)
      drop(spare);
    // What is wrong with it says nothing about a new one.
    else if (auto prepared = prepare(launch, std::move(spare)); prepared)
      return prepared;
  }
  auto spare = make_spare();
  if (!spare)
    return pass_on(spare);
  return prepare(launch, std::move(*spare));
}

Result<Prepared> ProcessAgents::prepare(const Launch& launch, Spare spare) {
  const WatchPtr run = spare.run;
  const auto text =
      launch_text(launch, run->id, options_.runs.path + "/" + run->id, options_.cgroup);
  auto path = text ? take_up_directory(options_.runs, run->id, spare.place, launch.prompt)
                   : Result<std::string>(tl::unexpected(text.error()));
  if (path)
    run->directory = *path;
  Result<void> told;
  if (path)
    told = write_all(spare.launch.get(), *text, *path);
  else
    told = pass_on(path);
  const char ready = 1;
  if (told && write(run->go.get(), &ready, 1) != 1)
    told = system_error(errno,
                        "the shim has left before it heard what to start (is it of this daemon's "
                        "version? `baton doctor`)",
                        run->directory);
  if (!told) {
    drop(spare);
    return pass_on(told);
  }
  run->kill_grace = launch.limits.kill_grace;
  runs_.emplace(run->id, run);
  keep_spare();
  return Prepared{.id = run->id,
                  .pid = run->pid,
                  .start_ticks = spare.start_ticks,
                  .boot_id = boot_id_,
                  .directory = run->directory};
}

Result<Spare> ProcessAgents::make_spare() {
  const RunId id = random_hex(kRunIdBytes);
  auto place = make_spare_directory(options_.runs, id);
  if (!place)
    return pass_on(place);
  Spare spare{.run = std::make_shared<Watch>(context_, id, place->path),
              .place = std::move(*place),
              .launch = Fd(memfd_create("launch", MFD_CLOEXEC)),
              .start_ticks = 0};
  // The file gets its memory now and not during a start.
  (void)!pwrite(spare.launch.get(), "", 1, 0);
  if (auto started = start_shim(spare); !started) {
    drop(spare);
    return pass_on(started);
  }
  return spare;
}

Result<void> ProcessAgents::start_shim(Spare& spare) {
  const std::string& path = spare.place.path;
  if (!spare.launch)
    return system_error(errno, "cannot make a file in memory", path);
  auto lock = take_run_lock(spare.place.directory);
  if (!lock)
    return pass_on(lock);
  if (!*lock)
    return fail(Errc::io, "somebody else holds the lock of a new run", path);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return system_error(errno, "cannot make a pipe", path);
  const Fd reading(ends[0]);
  spare.run->go = Fd(ends[1]);
  auto started =
      spawn_shim({.argv = {options_.shim, shim::kCallVersion, shim::kModeRun, spare.run->id},
                  .directory = spare.place.directory.get(),
                  .lock = (*lock)->get(),
                  .go = reading.get(),
                  .launch = spare.launch.get()});
  if (!started)
    return pass_on(started);
  spare.run->pid = started->pid;
  const auto stat = process_stat(started->pid);
  watch(spare.run, Standing::parked, std::move(started->process));
  if (!stat)
    return fail(Errc::busy, "cannot look at the shim just started", path);
  spare.start_ticks = stat->start_ticks;
  return write_claim(options_.runs, spare.place, {spare.run->pid, spare.start_ticks, spare.run->id},
                     boot_id_);
}

/// Nothing ran, and nothing is left.
void ProcessAgents::drop(const Spare& spare) {
  end_parked(*spare.run);
  (void)remove_run_directory(spare.run->directory);
}

/// A moment later: what is being started comes first, also on a machine with one processor.
void ProcessAgents::keep_spare() {
  if (!options_.keep_spare || std::exchange(waits_for_turn_, true))
    return;
  spare_turn_.expires_after(kSpareAfter);
  spare_turn_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
    if (error || here.expired())
      return;
    waits_for_turn_ = false;
    if (spare_)
      return;
    // Without one the next start says what is missing.
    if (auto spare = make_spare(); spare)
      spare_ = std::move(*spare);
  });
}

Result<void> ProcessAgents::release(const RunId& id) {
  const WatchPtr run = find(id);
  if (!run || run->standing != Standing::parked)
    return fail(Errc::not_found, "the run is not prepared", id);
  run->standing = Standing::watched;
  look_for_stopped();
  const char go = 1;
  (void)!write(run->go.get(), &go, 1);
  run->go.reset();
  // A shim that died while it waited is told about like any other end: nothing was claimed.
  if (run->shim_ended)
    look_again(run, Standing::retrying);
  return {};
}

void ProcessAgents::discard(const RunId& id) {
  const WatchPtr run = find(id);
  if (!run || run->standing != Standing::parked)
    return;
  end_parked(*run);
  (void)remove_run_directory(run->directory);
  runs_.erase(run->id);
}

void ProcessAgents::revoke(const RunId& id) {
  const WatchPtr run = find(id);
  if (!run || run->standing != Standing::parked)
    return;
  run->go.reset();
  if (run->shim_ended)
    runs_.erase(id);
  else
    run->standing = Standing::dropped;
}

Result<void> ProcessAgents::stop(const Run& wanted) {
  const WatchPtr run = find(wanted.id);
  if (!run || run->standing == Standing::dropped)
    return {};  // its end has been reported
  run->stop_wanted = true;
  switch (run->standing) {
    case Standing::parked:
      run->go.reset();
      run->standing = Standing::watched;
      if (run->shim_ended)
        look_again(run, Standing::retrying);
      return {};
    case Standing::watched: {
      const int process = run->process.native_handle();
      auto sent = send_signal(process, SIGTERM);
      // An agent of the same user could have stopped its shim; it would never hear of the wish.
      return sent ? send_signal(process, SIGCONT) : sent;
    }
    case Standing::polled:
      return fail(Errc::io,
                  "the run is alive, but its shim cannot be identified; no signal was sent",
                  wanted.directory);
    case Standing::sweeping:
    case Standing::retrying:
    case Standing::dropped:
      return {};
  }
  return {};
}

Found ProcessAgents::recover(const Run& lost) {
  if (runs_.contains(lost.id))
    return {.adopted = true, .end = {}};
  const bool stop_wanted = lost.state == RunState::stopping;
  auto run = std::make_shared<Watch>(context_, lost.id, lost.directory);
  run->pid = lost.pid;
  run->kill_grace = lost.limits.kill_grace;
  run->stop_wanted = stop_wanted;
  auto process = open_process({lost.pid, lost.start_ticks, lost.id});
  if (process) {
    runs_.emplace(lost.id, run);
    watch(run, Standing::watched, std::move(*process));
    // The wish may have been written down right before the crash, and nobody heard it.
    if (stop_wanted)
      (void)stop(lost);
    return {.adopted = true, .end = {}};
  }
  const auto same = same_boot(lost.boot_id, boot_id_);
  if (same == false) {
    auto directory = open_run_directory(lost.directory);
    auto recorded = directory ? recorded_end(*directory, lost.id, stop_wanted)
                              : Result<std::optional<RunEnd>>(std::optional<RunEnd>());
    if (recorded && *recorded)
      return {.adopted = false, .end = std::move(**recorded)};
    return {.adopted = false, .end = plain_end(lost.id, Outcome::interrupted, "other_boot")};
  }
  RunVerdict verdict = verdict_by_folder(options_.runs, lost.id, stop_wanted);
  // Nothing of it is left, and it may have been a power cut; then a claim may not have come to the
  // disk either.
  const bool over =
      verdict.kind == RunVerdict::Kind::sweep || verdict.end.outcome == Outcome::voided;
  if (!same && over && !lives(lost.id))
    return {.adopted = false, .end = plain_end(lost.id, Outcome::interrupted, "other_boot")};
  if (verdict.kind == RunVerdict::Kind::ended)
    return {.adopted = false, .end = std::move(verdict.end)};
  runs_.emplace(lost.id, run);
  act_on(run, std::move(verdict));
  return {.adopted = true, .end = {}};
}

void ProcessAgents::watch(const WatchPtr& run, Standing standing, Fd process) {
  run->standing = standing;
  if (standing == Standing::watched)
    look_for_stopped();
  run->process.assign(process.release());
  run->process.async_wait(asio::posix::descriptor_base::wait_read,
                          [this, weak = std::weak_ptr(run)](const asio::error_code& error) {
                            const WatchPtr watched = weak.lock();
                            if (watched && !error)
                              shim_ended(watched);
                          });
}

void ProcessAgents::look_again(const WatchPtr& run, Standing standing) {
  run->standing = standing;
  run->timer.expires_after(run->shim_ended ? std::chrono::seconds(0) : kLookAgain);
  run->timer.async_wait([this, weak = std::weak_ptr(run)](const asio::error_code& error) {
    const WatchPtr waiting = weak.lock();
    if (waiting && !error)
      decide(waiting);
  });
}

void ProcessAgents::shim_ended(const WatchPtr& run) {
  const Fd process(run->process.release());
  run->shim_exit = reap(process).value_or(0);
  if (run->standing == Standing::dropped)
    runs_.erase(run->id);
  else if (run->standing == Standing::parked)
    run->shim_ended = true;
  else
    decide(run);
}

void ProcessAgents::decide(const WatchPtr& run) {
  run->shim_ended = false;
  act_on(run, verdict_by_folder(options_.runs, run->id, run->stop_wanted));
}

void ProcessAgents::act_on(const WatchPtr& run, RunVerdict verdict) {
  switch (verdict.kind) {
    case RunVerdict::Kind::ended:
      report(run, std::move(verdict.end));
      return;
    case RunVerdict::Kind::locked:
      look_again(run, Standing::polled);
      return;
    case RunVerdict::Kind::sweep:
      sweep(run, verdict);
      return;
    case RunVerdict::Kind::retry:
      look_again(run, Standing::retrying);
      return;
  }
}

void ProcessAgents::sweep(const WatchPtr& run, const RunVerdict& verdict) {
  // A sweeper that came to grief is not followed by the next one at once, nor for ever.
  if (run->standing == Standing::sweeping) {
    if (++run->failed_sweeps >= kMaxSweeps)
      report(run, plain_end(run->id, Outcome::unknown, "could_not_stop"));
    else
      look_again(run, Standing::retrying);
    return;
  }
  const Millis grace = std::min(run->kill_grace, kSweepGrace);
  auto started = spawn_shim({.argv = {options_.shim, shim::kCallVersion, shim::kModeSweep, run->id,
                                      std::to_string(std::max<Millis::rep>(0, grace.count()))},
                             .directory = verdict.directory->get(),
                             .lock = verdict.lock->get()});
  if (!started) {
    look_again(run, Standing::retrying);
    return;
  }
  run->pid = started->pid;
  watch(run, Standing::sweeping, std::move(started->process));
}

void ProcessAgents::report(const WatchPtr& run, RunEnd end) {
  if (end.outcome == Outcome::voided && end.reason == kNotClaimed)
    end.reason = why_not_claimed(run->shim_exit);
  runs_.erase(run->id);
  on_end_(RunEnded{std::move(end)});
}

void ProcessAgents::await_children() {
  children_.async_wait([this](const asio::error_code& error, int) {
    if (error)
      return;
    reap_others([this](std::int64_t pid) {
      if (spare_ && spare_->run->pid == pid)
        return true;
      const bool own = std::any_of(runs_.begin(), runs_.end(),
                                   [pid](const auto& entry) { return entry.second->pid == pid; });
      return own || (options_.keep && options_.keep(pid));
    });
    await_children();
  });
}

}  // namespace

std::unique_ptr<Agents> process_agents(asio::io_context& context, ProcessAgentsOptions options,
                                       std::function<void(RunEnded)> on_end) {
  return std::make_unique<ProcessAgents>(context, std::move(options), std::move(on_end));
}

}  // namespace baton
