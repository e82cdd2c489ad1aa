// SPDX-License-Identifier: Apache-2.0
#include "io/agents/run_outcome.h"

#include <chrono>
#include <utility>

#include "io/system/process.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr const char* kExitFileDamaged = "exit_file_damaged";
constexpr const char* kDirectoryMissing = "run_directory_missing";
constexpr const char* kShimKilled = shim::kCauseShimKilled;

Time wall_now() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

RunOutcome ended(RunEnd end) {
  RunOutcome outcome;
  outcome.kind = RunOutcome::Kind::ended;
  outcome.end = std::move(end);
  return outcome;
}

RunOutcome outcome_of(RunOutcome::Kind kind) {
  RunOutcome outcome;
  outcome.kind = kind;
  return outcome;
}

/// Whether only the agent can have taken the lock: it runs as the same user, so it can open the
/// lock or put another file in its place.
bool lock_is_the_agents(const Fd& directory, const RunId& run, bool held, bool shim_gone) {
  const bool known = has_living_process(run);
  // Without a claim, the process that was to become the agent may hold the lock for a moment.
  const bool its_own = known || claimed(directory).value_or(false);
  if (shim_gone || !its_own)
    return its_own;
  // A shim in another container holds the lock rightfully, although we cannot see it.
  if (!known && held && !lock_holder_seen(directory))
    return false;
  const std::string marker = std::string(shim::kRunIdVariable) + "=" + run;
  return !any_process_has_words({shim::kModeRun, run}, marker) &&
         !any_process_has_words({shim::kModeSweep, run}, marker);
}

/// Takes the run's lock if it is free, or if only the agent holds it.
Result<std::optional<Fd>> take_lock(const Fd& directory, const RunId& run, bool shim_gone) {
  auto lock = take_run_lock(directory);
  const bool misplaced =
      !lock && (lock.error().code == Errc::not_regular || lock.error().code == Errc::denied);
  const bool held = lock && !*lock;
  if ((!misplaced && !held) || !lock_is_the_agents(directory, run, held, shim_gone))
    return lock;
  if (auto aside = move_lock_aside(directory); !aside)
    return pass_on(aside);
  return take_run_lock(directory);
}

}  // namespace

RunEnd plain_end(const RunId& run, Outcome outcome, std::string reason) {
  RunEnd end;
  end.run = run;
  end.outcome = outcome;
  end.reason = std::move(reason);
  end.ended = wall_now();
  return end;
}

Result<std::optional<RunEnd>> recorded_end(const Fd& directory, const RunId& run,
                                           bool stop_wanted) {
  auto text = exit_text(directory);
  if (!text && text.error().code == Errc::not_found)
    return std::optional<RunEnd>();
  if (!text && (text.error().code == Errc::busy || text.error().code == Errc::no_space ||
                text.error().code == Errc::io))
    return pass_on(text);
  const auto exit = text ? parse_exit(*text, shim::kExitFile) : Result<ExitRecord>(pass_on(text));
  if (!exit || exit->run_id != run)
    return std::optional(plain_end(run, Outcome::unknown, kExitFileDamaged));
  RunEnd end = run_end(*exit, stop_wanted);
  // All that is kept, because the result of a program may be long.
  constexpr std::size_t kMostOutput = std::size_t{64} << 20U;
  end.prompt = prompt_text(directory);
  end.output = output_tail(
      directory,
      {shim::kStdoutFile, shim::kStdoutTailFile, exit->stdout_bytes, exit->stdout_dropped},
      kMostOutput);
  end.errors = output_tail(
      directory,
      {shim::kStderrFile, shim::kStderrTailFile, exit->stderr_bytes, exit->stderr_dropped},
      kErrorBytes);
  return std::optional(std::move(end));
}

bool has_living_process(const RunId& run) {
  return any_process_has_variable(std::string(shim::kRunIdVariable) + "=" + run);
}

std::optional<bool> same_boot(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? std::nullopt : std::optional(one == other);
}

/// No process survives a restart of the machine.
RunEnd of_other_boot(RunEnd end) {
  if (end.reason == kCouldNotStop)
    end.reason = kLookedAfter;
  return end;
}

RunOutcome outcome_of_other_boot(const std::string& path, const RunId& run, bool stop_wanted) {
  auto directory = open_run_directory(path);
  auto recorded = directory ? recorded_end(*directory, run, stop_wanted)
                            : Result<std::optional<RunEnd>>(pass_on(directory));
  if (recorded && *recorded)
    return ended(of_other_boot(std::move(**recorded)));
  // A broken disk stays broken: if the run is to be stopped, do not wait for it.
  if (!recorded &&
      (recorded.error().code == Errc::busy || (recorded.error().code == Errc::io && !stop_wanted)))
    return outcome_of(RunOutcome::Kind::retry);
  return ended(plain_end(run, Outcome::interrupted, kOtherBoot));
}

namespace {

/// Whether a process of the run lives, as far as its environment, its cgroup and the agent's own
/// process tell.
bool lives(const Fd& directory, const RunId& run, const std::string& cgroup) {
  return has_living_process(run) || is_populated(cgroup) || agent_lives(directory);
}

/// The end of a run whose shim was killed. exit.json is that of the sweeper, or the agent has
/// replaced it since: only the outcome that the sweeper can have written counts.
RunEnd swept_end(std::optional<RunEnd> recorded, const RunId& run, bool stop_wanted) {
  RunEnd end = recorded ? std::move(*recorded) : plain_end(run, Outcome::unknown, "");
  end.outcome = stop_wanted ? Outcome::stopped : Outcome::unknown;
  if (end.reason != kCouldNotStop)
    end.reason = stop_wanted ? "" : kShimKilled;
  end.exit_code.reset();
  end.signal = 0;
  return end;
}

}  // namespace

RunOutcome outcome_by_folder(const RunFolder& folder, const RunId& run, bool stop_wanted,
                             const ShimEnd& shim) {
  auto directory = open_run_directory(folder.path + "/" + run);
  const bool missing = !directory && directory.error().code == Errc::not_found;
  if (missing && !has_living_process(run))
    // baton cannot tell whether the run was claimed, so it must not start the run again.
    return ended(plain_end(run, Outcome::unknown, kDirectoryMissing));
  if (missing)
    directory = remake_run_directory(folder, run);
  if (!directory)
    return outcome_of(RunOutcome::Kind::retry);
  auto lock = take_lock(*directory, run, shim.gone);
  if (!lock)
    return outcome_of(RunOutcome::Kind::retry);
  if (!*lock)
    return outcome_of(RunOutcome::Kind::locked);
  // We hold the lock, or only the agent did: no shim lives, so the files are final.
  auto recorded = recorded_end(*directory, run, stop_wanted);
  if (!recorded)
    return outcome_of(RunOutcome::Kind::retry);
  switch (shim.trust) {
    case RecordTrust::swept:
      return ended(swept_end(std::move(*recorded), run, stop_wanted));
    case RecordTrust::proved:
      if (*recorded && !((*recorded)->reason == kExitFileDamaged && has_living_process(run)))
        return ended(std::move(**recorded));
      break;
    case RecordTrust::unproved:
      if (*recorded && !lives(*directory, run, shim.cgroup))
        return ended(std::move(**recorded));
      break;
    case RecordTrust::refuted:
      break;
  }
  const auto was_claimed = claimed(*directory);
  if (!was_claimed)
    return outcome_of(RunOutcome::Kind::retry);
  // A living process proves the start, and so does a record, whatever else the folder says.
  if (!*was_claimed && !*recorded && !has_living_process(run))
    return ended(plain_end(run, Outcome::voided, kNotClaimed));
  RunOutcome outcome = outcome_of(RunOutcome::Kind::sweep);
  outcome.directory = std::move(*directory);
  outcome.lock = std::move(**lock);
  return outcome;
}

std::optional<RunEnd> unrecorded_end(const Run& run) {
  if (open_process({run.pid, run.start_ticks, run.id}))
    return std::nullopt;
  const auto same = same_boot(run.boot_id, boot_id());
  // The shim is gone. The next daemon ends the remaining processes; until then the run lives.
  if (same != false && has_living_process(run.id))
    return std::nullopt;
  const auto directory = open_run_directory(run.directory);
  if (!directory)
    return directory.error().code == Errc::not_found
               ? std::optional(plain_end(run.id, Outcome::unknown, kDirectoryMissing))
               : std::nullopt;
  auto recorded = recorded_end(*directory, run.id, run.state == RunState::stopping);
  if (!recorded)
    return std::nullopt;
  if (*recorded)
    return same == false ? of_other_boot(std::move(**recorded)) : std::move(**recorded);
  if (same != true)
    return plain_end(run.id, Outcome::interrupted, kOtherBoot);
  const auto was_claimed = claimed(*directory);
  if (!was_claimed)
    return std::nullopt;
  return *was_claimed ? plain_end(run.id, Outcome::unknown, kShimKilled)
                      : plain_end(run.id, Outcome::voided, kNotClaimed);
}

}  // namespace baton
