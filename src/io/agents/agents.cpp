// SPDX-License-Identifier: Apache-2.0
#include "io/agents/agents.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <utility>

#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "io/agents/parked_shim.h"
#include "io/agents/run_outcome.h"
#include "io/system/process.h"
#include "io/system/spawn.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kAtOnce{0};
constexpr std::chrono::seconds kLookForRunAgain{1};
constexpr std::chrono::milliseconds kSpareAfter{10};
/// An agent whose shim was killed has lost its output and its limits already, so a short grace is
/// enough.
constexpr Millis kSweepGrace{2'000};
constexpr int kMaxSweeps = 10;
constexpr const char* kMayBeLeft =
    "it had no cgroup of its own, so a process that left its session and its environment could not "
    "be found and may still run";
constexpr int kMostTurns = 20;
/// systemd-run ends with it if there is no unit. It is no exit status of the shim.
constexpr int kNoUnit = 1;
/// How often to look at a shim that has got SIGTERM but needs time, for example because the disk is
/// full.
constexpr Millis kLookAtStopped{2'000};
/// A shim that is stopped at this many looks in a row is blocked by its agent.
constexpr int kMostStoppedLooks = 3;

enum class RunPhase { parked, watched, polled, sweeping, retrying, dropped };

struct WatchedRun {
  WatchedRun(asio::io_context& context, RunId run, std::string path)
      : id(std::move(run)), directory(std::move(path)), process(context), timer(context) {}

  RunId id;
  std::string directory;
  RunPhase phase = RunPhase::retrying;
  asio::posix::stream_descriptor process;  ///< pidfd of the shim or the sweeper
  asio::steady_timer timer;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< of the shim; only for an adopted run
  AwaitedChild awaited;           ///< while `process` may be our child
  Fd go;
  std::string cgroup;  ///< absolute path of its own cgroup, if it has one; "": it can have none
  Millis kill_grace{0};
  bool stop_wanted = false;
  bool shim_ended = false;  ///< the shim, or the last sweeper, was seen to end
  int shim_exit = 0;        ///< of a child that has ended
  RecordTrust trust = RecordTrust::unproved;
  std::optional<bool> had_cgroup;  ///< when the first sweeper was started
  int failed_sweeps = 0;           ///< sweepers that ended without recording what they did
  int still = 0;                   ///< looks in a row at which the shim was stopped
  bool asked_to_end = false;
  bool other_boot = false;  ///< the machine was restarted since; only exit.json can be left
};
using WatchedPtr = std::shared_ptr<WatchedRun>;

/// Removes the cgroup of a run whose shim was killed before the claim. A cgroup in use cannot be
/// removed.
void remove_cgroup(const std::string& path) {
  if (path.empty())
    return;
  // A process releases its lock a moment before it leaves its cgroup.
  for (int turn = 0; turn < kMostTurns && rmdir(path.c_str()) != 0 && errno == EBUSY; ++turn)
    usleep(1000);
}

/// The reason that the exit status of a shim without a claim gives.
std::string why_not_claimed(int exit, bool in_unit) {
  if (in_unit && exit == kNoUnit)
    return kUnitRefused;
  if (exit == static_cast<int>(shim::ShimExit::bad_call))
    return kShimMisfit;
  return exit == static_cast<int>(shim::ShimExit::no_claim) ? kShimUnready : kNotClaimed;
}

/// The shim is stopped (most likely by its own agent) or traced. Then it neither enforces limits
/// nor reports an end.
bool is_stopped(const WatchedRun& run) {
  const auto stat = process_stat(run.pid);
  return stat && (stat->state == 'T' || stat->state == 't');
}

/// Its shim, or what was to become it, has not begun the run. So ending it loses nothing.
bool is_unclaimed(const WatchedRun& run) {
  const auto directory = open_run_directory(run.directory);
  return directory && claimed(*directory) == false;
}

/// Kills the shim of a watched run. The rest of its tree is swept then.
void kill_shim(WatchedRun& run) {
  (void)send_signal(run.process.native_handle(), SIGKILL);
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
    (void)remove_spare_directories(options_.runs);  // left by a killed daemon
    if (options_.reap_others) {
      children_.add(SIGCHLD);
      await_children();
    }
  }

  Result<Prepared> prepare(const Launch& launch) override;
  Result<void> release(const RunId& id) override;
  void discard(const RunId& id) override;
  void revoke(const RunId& id) override;
  Result<void> stop(const Run& wanted) override;
  Found recover(const Run& lost) override;
  std::string boot() const override { return boot_id_; }
  std::optional<Time> last_output(const Run& run) override { return last_output_in(run.directory); }

 private:
  Result<PreparedShim> prepare_shim(const Launch& launch);
  void keep_spare();
  Result<void> watch(const WatchedPtr& run, RunPhase phase, Fd& process);
  void await_end(const WatchedPtr& run);
  Result<void> hold(const WatchedPtr& run);
  void look_again(const WatchedPtr& run, RunPhase phase,
                  std::chrono::seconds later = kLookForRunAgain);
  void look_for_stopped();
  Result<void> ask_to_end(const WatchedPtr& run);
  void end_blocked(const WatchedPtr& run, Millis later);
  void shim_ended(const WatchedPtr& run);
  void decide(const WatchedPtr& run);
  void act_on(const WatchedPtr& run, RunOutcome verdict);
  RunOutcome verdict_of(const WatchedRun& run) const;
  void sweep(const WatchedPtr& run, const RunOutcome& verdict);
  std::string cgroup_of(const RunId& id, const Key& key, std::uint32_t attempt) const;
  void report(const WatchedPtr& run, RunEnd end);
  WatchedPtr find(const RunId& run) const;
  void await_children();

  asio::io_context& context_;
  ProcessAgentsOptions options_;
  std::function<void(RunEnded)> on_end_;
  asio::signal_set children_;
  asio::steady_timer spare_turn_;
  asio::steady_timer look_;  ///< looks for stopped shims
  std::string boot_id_;
  /// Handlers hold weak pointers only, so they ignore a run that is no longer in this map.
  std::map<RunId, WatchedPtr> runs_;
  std::optional<ParkedShim> spare_;
  bool waits_for_turn_ = false;
  bool looks_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(
      true);  ///< handlers that run late check whether this object still exists
};

/// Tells the shim of a watched run to end.
Result<void> ProcessAgents::ask_to_end(const WatchedPtr& run) {
  const int process = run->process.native_handle();
  auto sent = send_signal(process, SIGTERM);
  // An agent of the same user may have stopped its shim, which then would not see SIGTERM.
  if (sent)
    sent = send_signal(process, SIGCONT);
  if (!std::exchange(run->asked_to_end, true))
    end_blocked(run, run->kill_grace + options_.shim_patience);
  return sent;
}

/// Kills a shim that has got SIGTERM but cannot end, because it is stopped or traced.
void ProcessAgents::end_blocked(const WatchedPtr& run, Millis later) {
  run->timer.expires_after(later);
  run->timer.async_wait([this, weak = std::weak_ptr(run)](const asio::error_code& error) {
    const WatchedPtr waiting = weak.lock();
    if (error || !waiting || waiting->phase != RunPhase::watched)
      return;
    if (is_stopped(*waiting) || is_unclaimed(*waiting))
      kill_shim(*waiting);
    else
      end_blocked(waiting, kLookAtStopped);
  });
}

void ProcessAgents::look_for_stopped() {
  if (std::exchange(looks_, true))
    return;
  look_.expires_after(options_.look_every);
  look_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
    if (error || here.expired())
      return;
    looks_ = false;
    for (const auto& [id, run] : runs_) {
      if (run->phase != RunPhase::watched)
        continue;
      look_for_stopped();
      run->still = is_stopped(*run) || is_unclaimed(*run) ? run->still + 1 : 0;
      if (run->still >= kMostStoppedLooks)
        kill_shim(*run);
      else if (run->still > 0)
        (void)send_signal(run->process.native_handle(), SIGCONT);
    }
  });
}

WatchedPtr ProcessAgents::find(const RunId& run) const {
  const auto at = runs_.find(run);
  return at == runs_.end() ? nullptr : at->second;
}

Result<Prepared> ProcessAgents::prepare(const Launch& launch) {
  // Refuse arguments that no process can be given, before anything is created.
  if (auto text = launch_text(launch, {}, {}, {}); !text)
    return tl::unexpected(text.error());
  auto shim = prepare_shim(launch);
  if (!shim)
    return pass_on(shim);
  auto run = std::make_shared<WatchedRun>(context_, shim->id, shim->directory);
  run->cgroup = cgroup_of(run->id, launch.key, launch.attempt);
  run->pid = shim->pid;
  run->awaited = std::move(shim->awaited);
  run->go = std::move(shim->go);
  run->kill_grace = launch.limits.kill_grace;
  if (auto watched = watch(run, RunPhase::parked, shim->process); !watched) {
    run->go.reset();
    end_parked(shim->process);
    remove_cgroup(run->cgroup);
    (void)remove_run_directory(run->directory);
    return pass_on(watched);
  }
  runs_.emplace(run->id, run);
  keep_spare();
  return Prepared{.id = run->id,
                  .pid = run->pid,
                  .start_ticks = shim->start_ticks,
                  .boot_id = boot_id_,
                  .directory = run->directory};
}

Result<PreparedShim> ProcessAgents::prepare_shim(const Launch& launch) {
  if (options_.units) {
    const std::string name = unit_name(options_.root, launch.key, launch.attempt);
    auto shim =
        ParkedShim::make(options_.runs, options_.shim, boot_id_,
                         {unit_command(*options_.units, name, launch), options_.units->env});
    if (!shim)
      return pass_on(shim);
    return std::move(*shim).assign(options_.runs, launch, options_.units->slice + "/" + name);
  }
  if (spare_) {
    ParkedShim spare = std::move(*spare_);
    spare_.reset();
    // A fault of this shim says nothing about a new one.
    if (!spare.ended())
      if (auto shim = std::move(spare).assign(options_.runs, launch, options_.cgroup); shim)
        return shim;
  }
  auto fresh = ParkedShim::make(options_.runs, options_.shim, boot_id_);
  if (!fresh)
    return pass_on(fresh);
  return std::move(*fresh).assign(options_.runs, launch, options_.cgroup);
}

/// Makes the spare shim a moment later: the current start comes first, also on a machine with one
/// processor.
void ProcessAgents::keep_spare() {
  if (!options_.keep_spare || options_.units || std::exchange(waits_for_turn_, true))
    return;
  spare_turn_.expires_after(kSpareAfter);
  spare_turn_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
    if (error || here.expired())
      return;
    waits_for_turn_ = false;
    if (spare_)
      return;
    // If this fails, the next start reports the error.
    if (auto spare = ParkedShim::make(options_.runs, options_.shim, boot_id_); spare)
      spare_.emplace(std::move(*spare));
  });
}

Result<void> ProcessAgents::release(const RunId& id) {
  const WatchedPtr run = find(id);
  if (!run || run->phase != RunPhase::parked)
    return fail(Errc::not_found, "the run is not prepared", id);
  run->phase = RunPhase::watched;
  look_for_stopped();
  const char go = 1;
  (void)!write(run->go.get(), &go, 1);
  run->go.reset();
  // The shim died while it waited: report it like any other end without a claim.
  if (run->shim_ended)
    look_again(run, RunPhase::retrying, kAtOnce);
  return {};
}

void ProcessAgents::discard(const RunId& id) {
  const WatchedPtr run = find(id);
  if (!run || run->phase != RunPhase::parked)
    return;
  run->go.reset();
  if (!run->shim_ended)
    end_parked(Fd(run->process.release()));
  remove_cgroup(run->cgroup);
  (void)remove_run_directory(run->directory);
  runs_.erase(run->id);
}

void ProcessAgents::revoke(const RunId& id) {
  const WatchedPtr run = find(id);
  if (!run || run->phase != RunPhase::parked)
    return;
  run->go.reset();
  if (run->shim_ended)
    runs_.erase(id);
  else
    run->phase = RunPhase::dropped;
}

Result<void> ProcessAgents::stop(const Run& wanted) {
  const WatchedPtr run = find(wanted.id);
  if (!run || run->phase == RunPhase::dropped)
    return {};  // its end was reported already
  run->stop_wanted = true;
  switch (run->phase) {
    case RunPhase::parked:
      run->go.reset();
      run->phase = RunPhase::watched;
      if (run->shim_ended)
        look_again(run, RunPhase::retrying, kAtOnce);
      return {};
    case RunPhase::watched:
      return ask_to_end(run);
    case RunPhase::polled:
      if (hold(run))
        return {};
      return fail(Errc::io,
                  "the run is alive, but its shim cannot be identified; no signal was sent",
                  wanted.directory);
    case RunPhase::sweeping:
    case RunPhase::retrying:
    case RunPhase::dropped:
      return {};
  }
  return {};
}

Found ProcessAgents::recover(const Run& lost) {
  if (runs_.contains(lost.id))
    return {.adopted = true, .end = {}};
  const bool stop_wanted = lost.state == RunState::stopping;
  auto run = std::make_shared<WatchedRun>(context_, lost.id, lost.directory);
  run->cgroup = cgroup_of(lost.id, lost.key, lost.attempt);
  run->pid = lost.pid;
  run->start_ticks = lost.start_ticks;
  run->kill_grace = lost.limits.kill_grace;
  run->stop_wanted = stop_wanted;
  const auto same = same_boot(lost.boot_id, boot_id_);
  const auto held = hold(run);
  const bool unknown = !held && held.error().code != Errc::not_found && same != false;
  if (held || unknown) {
    runs_.emplace(lost.id, run);
    if (unknown)
      look_again(run, RunPhase::retrying);
    return {.adopted = true, .end = {}};
  }
  run->other_boot = same == false;
  RunOutcome verdict = verdict_of(*run);
  // After a restart of the machine nothing runs. It may have been a power cut, so the claim may not
  // be on disk either.
  const bool over =
      verdict.kind == RunOutcome::Kind::sweep || verdict.end.outcome == Outcome::voided;
  if (!same && over && !has_living_process(lost.id))
    return {.adopted = false, .end = plain_end(lost.id, Outcome::interrupted, kOtherBoot)};
  if (verdict.end.outcome == Outcome::voided)
    remove_cgroup(run->cgroup);
  if (verdict.kind == RunOutcome::Kind::ended)
    return {.adopted = false, .end = std::move(verdict.end)};
  runs_.emplace(lost.id, run);
  act_on(run, std::move(verdict));
  return {.adopted = true, .end = {}};
}

/// Watches the shim of an adopted run. Errors as for `open_process`; nothing is changed then.
Result<void> ProcessAgents::hold(const WatchedPtr& run) {
  auto process = open_process({run->pid, run->start_ticks, run->id});
  if (!process)
    return pass_on(process);
  run->timer.cancel();
  run->awaited = AwaitedChild(run->pid);
  if (auto watched = watch(run, RunPhase::watched, *process); !watched)
    return watched;
  // The stop may have been recorded right before a crash, without being sent.
  if (run->stop_wanted)
    (void)ask_to_end(run);
  return {};
}

/// Takes over the descriptor. Errc::busy: the kernel has no room to watch it; nothing is changed
/// then.
Result<void> ProcessAgents::watch(const WatchedPtr& run, RunPhase phase, Fd& process) {
  asio::error_code error;
  run->process.assign(process.get(), error);
  if (error)
    return system_error(error.value(), "its process cannot be watched", run->directory);
  (void)process.release();
  run->phase = phase;
  if (phase == RunPhase::watched)
    look_for_stopped();
  await_end(run);
  return {};
}

void ProcessAgents::await_end(const WatchedPtr& run) {
  run->process.async_wait(asio::posix::descriptor_base::wait_read,
                          [this, weak = std::weak_ptr(run)](const asio::error_code& error) {
                            const WatchedPtr watched = weak.lock();
                            if (!watched || error)
                              return;
                            // The reactor may report an event of a descriptor that was closed a
                            // moment ago.
                            if (has_ended(watched->process.native_handle()))
                              shim_ended(watched);
                            else
                              await_end(watched);
                          });
}

void ProcessAgents::look_again(const WatchedPtr& run, RunPhase phase, std::chrono::seconds later) {
  run->phase = phase;
  run->timer.expires_after(later);
  run->timer.async_wait([this, weak = std::weak_ptr(run)](const asio::error_code& error) {
    const WatchedPtr waiting = weak.lock();
    const bool waits =
        waiting && (waiting->phase == RunPhase::polled || waiting->phase == RunPhase::retrying);
    if (waits && !error)
      decide(waiting);
  });
}

void ProcessAgents::shim_ended(const WatchedPtr& run) {
  run->timer.cancel();
  const Fd process(run->process.release());
  const std::optional<int> exit = reap(process);
  run->shim_exit = exit.value_or(0);
  run->awaited = {};
  run->shim_ended = true;
  const bool recorded = exit == static_cast<int>(shim::ShimExit::recorded);
  if (run->phase == RunPhase::sweeping && recorded)
    run->trust = RecordTrust::swept;
  else if (run->phase != RunPhase::sweeping && exit)
    run->trust = recorded ? RecordTrust::proved : RecordTrust::refuted;
  if (run->phase == RunPhase::dropped) {
    remove_cgroup(run->cgroup);
    runs_.erase(run->id);
  } else if (run->phase != RunPhase::parked) {
    decide(run);
  }
}

void ProcessAgents::decide(const WatchedPtr& run) {
  // What was missing when the run was adopted, such as a descriptor, may be available now.
  if (!run->shim_ended) {
    const auto held = hold(run);
    if (held)
      return;
    if (held.error().code != Errc::not_found)
      return look_again(run, RunPhase::retrying);
  }
  act_on(run, verdict_of(*run));
}

RunOutcome ProcessAgents::verdict_of(const WatchedRun& run) const {
  return run.other_boot ? outcome_of_other_boot(run.directory, run.id, run.stop_wanted)
                        : outcome_by_folder(
                              options_.runs, run.id, run.stop_wanted,
                              {.gone = run.shim_ended, .trust = run.trust, .cgroup = run.cgroup});
}

void ProcessAgents::act_on(const WatchedPtr& run, RunOutcome verdict) {
  switch (verdict.kind) {
    case RunOutcome::Kind::ended:
      report(run, std::move(verdict.end));
      return;
    case RunOutcome::Kind::locked:
      look_again(run, RunPhase::polled);
      return;
    case RunOutcome::Kind::sweep:
      sweep(run, verdict);
      return;
    case RunOutcome::Kind::retry:
      look_again(run, RunPhase::retrying);
      return;
  }
}

void ProcessAgents::sweep(const WatchedPtr& run, const RunOutcome& verdict) {
  if (!run->had_cgroup)
    run->had_cgroup = !run->cgroup.empty() && access(run->cgroup.c_str(), F_OK) == 0;
  // Once the run has to be swept, only the record of the sweeper counts.
  run->trust = RecordTrust::refuted;
  // After a failed sweeper, wait before the next one, and give up after some.
  if (run->phase == RunPhase::sweeping) {
    if (++run->failed_sweeps >= kMaxSweeps)
      report(run, plain_end(run->id, Outcome::unknown, kCouldNotStop));
    else
      look_again(run, RunPhase::retrying);
    return;
  }
  const Millis grace = std::min(run->kill_grace, kSweepGrace);
  auto started =
      spawn_shim({.argv = {options_.shim, shim::kCallVersion, shim::kModeSweep, run->id,
                           std::to_string(std::max<Millis::rep>(0, grace.count())), run->cgroup},
                  .descriptors = {{verdict.directory->get(), shim::kDirectoryFd},
                                  {verdict.lock->get(), shim::kLockFd}}});
  if (!started) {
    look_again(run, RunPhase::retrying);
    return;
  }
  run->pid = started->pid;
  run->awaited = std::move(started->awaited);
  if (!watch(run, RunPhase::sweeping, started->process))
    look_again(run, RunPhase::retrying);
}

/// "" when runs get no cgroups. An agent may have removed its own. A run may be older than the
/// choice of the backend.
std::string ProcessAgents::cgroup_of(const RunId& id, const Key& key, std::uint32_t attempt) const {
  const std::string plain = options_.cgroup.empty() ? "" : options_.cgroup + "/run-" + id;
  if (!options_.units || (!plain.empty() && access(plain.c_str(), F_OK) == 0))
    return plain;
  return options_.units->slice + "/" + unit_name(options_.root, key, attempt) + "/run-" + id;
}

void ProcessAgents::report(const WatchedPtr& run, RunEnd end) {
  if (end.outcome == Outcome::voided)
    remove_cgroup(run->cgroup);
  if (end.outcome == Outcome::voided && end.reason == kNotClaimed)
    end.reason = why_not_claimed(run->shim_exit, options_.units.has_value());
  if (run->trust == RecordTrust::swept && run->had_cgroup == false)
    end.error = kMayBeLeft;
  runs_.erase(run->id);
  on_end_(RunEnded{std::move(end)});
}

void ProcessAgents::await_children() {
  children_.async_wait([this](const asio::error_code& error, int) {
    if (error)
      return;
    reap_others();
    await_children();
  });
}

}  // namespace

std::unique_ptr<Agents> process_agents(asio::io_context& context, ProcessAgentsOptions options,
                                       std::function<void(RunEnded)> on_end) {
  return std::make_unique<ProcessAgents>(context, std::move(options), std::move(on_end));
}

}  // namespace baton
