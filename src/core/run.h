// SPDX-License-Identifier: Apache-2.0
#pragma once

// One start of one agent: its states, how it ended, and what is remembered about it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/flow.h"

namespace baton {

/// started: the start is in the journal; the shim waits, claims or runs.
/// stopping: started, and the decision to stop it is in the journal.
/// ended: the run has an outcome.
enum class RunState { started, stopping, ended };
std::string_view word(RunState state);

/// How a run ended.
/// voided: nothing ran (the agent made no claim), so the attempt is not used up.
/// interrupted: the machine went down or another program ended the agent. The agent may have done
/// its work.
/// unknown: the agent ran, but its shim was killed before it recorded the end.
/// limited: its provider had no room for hours or days. transient: its provider had no room for the
/// moment. auth: its login or credit was refused. These three say nothing of the work; see
/// `says_nothing`.
enum class Outcome {
  none,
  succeeded,
  failed,
  timed_out,
  stalled,
  stopped,
  interrupted,
  unknown,
  voided,
  limited,
  transient,
  auth,
};
std::string_view word(Outcome outcome);
std::optional<Outcome> parse_outcome(std::string_view word);
/// The words of all outcomes that an ended run can have.
std::vector<std::string> outcome_words();
/// The agent could not work because of its provider or its login. The work is as it was: the
/// attempt is not used up, and a dialect treats the run as one that an operator has stopped.
constexpr bool says_nothing(Outcome outcome) {
  return outcome == Outcome::limited || outcome == Outcome::transient || outcome == Outcome::auth;
}
/// The run was ended before it could end its work, and its failure is not that of the work.
constexpr bool is_put_back(Outcome outcome) {
  return outcome == Outcome::stopped || says_nothing(outcome);
}

/// How much of a run's output is kept for decisions. The log of the run has all of it.
inline constexpr std::size_t kOutputBytes = 256U << 10U;
/// How much of it stays in memory once the subject has left the stage.
inline constexpr std::size_t kOldOutputBytes = 32U << 10U;
inline constexpr std::size_t kErrorBytes = 32U << 10U;  ///< the same for stderr
/// The role of actions that a dialect runs itself. They need no agent and do not count for the
/// limit of starts per hour.
inline constexpr std::string_view kActionRole = "shell";

// Reasons of a voided run, besides `file_changed`.
inline constexpr const char* kNotClaimed = "not_claimed";
inline constexpr const char* kShimMisfit =
    "shim_misfit";  ///< the shim has another protocol version
inline constexpr const char* kShimUnready =
    "shim_unready";  ///< the shim lacks something a start needs
inline constexpr const char* kUnitRefused = "unit_refused";  ///< systemd made no unit for it

/// Reason of a run that may have left processes that still live.
inline constexpr const char* kCouldNotStop = "could_not_stop";
/// The same after a person has looked after these processes, or after a reboot.
inline constexpr const char* kLookedAfter = "looked_after";
/// Errors of runs that ended well, but perhaps did not do their work; see `repeated_as`.
inline constexpr const char* kWasDenied = "it was not allowed to do something that it wanted to do";
inline constexpr const char* kEmptyAnswer = "its answer is empty";
/// Reason of a run that the kernel killed because its memory, or that of the machine, ran out.
inline constexpr const char* kOutOfMemory = "out_of_memory";

/// A user of this machine as whom an agent's program runs. The ids are those of the system.
struct ProgramUser {
  std::string name;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  ///< all groups of the user, `gid` included
  bool operator==(const ProgramUser&) const = default;
};

/// The end of a run, as its shim recorded it or as recovery found out.
struct RunEnd {
  RunId run;
  Outcome outcome = Outcome::none;
  std::optional<int> exit_code;  ///< set if the agent exited by itself
  int signal = 0;                ///< set if a signal ended it
  std::string
      reason;  ///< failed, unknown, interrupted: a named reason, e.g. `exit_1`, `exec_failed`
  std::string error;  ///< what else the shim knows of it, for people; may be empty
  Time ended{};
  std::int64_t user_ms = 0;
  std::int64_t system_ms = 0;
  std::int64_t max_rss_kib = 0;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  bool leftovers = false;  ///< the shim ended processes that the agent left behind
  std::string prompt;      ///< what it was told
  std::string output;      ///< see Run::output; up to all of it, cut when it is entered
  std::string errors;      ///< see Run::errors
  Millis duration{0};      ///< of the agent's program, measured by the shim
  bool operator==(const RunEnd&) const = default;
};

/// One start of one agent.
struct Run {
  RunId id;
  Key key;
  std::uint32_t attempt = 1;
  Word purpose;
  Word stage;  ///< the stage it was started for
  RunState state = RunState::started;
  Outcome outcome = Outcome::none;
  std::string why;  ///< why it was started
  Role agent;       ///< that does the work, perhaps in place of the role's; empty: an action
  Time started{};
  Time ended{};
  /// Identity of the shim: pid, start time in clock ticks since boot, id of the boot.
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot_id;
  std::string directory;  ///< absolute
  RunLimits limits;
  std::vector<Claim> claims;
  DocSet base;
  std::string stop_why;  ///< set with `stopping`
  std::optional<int> exit_code;
  int signal = 0;
  std::string reason;
  std::string error;      ///< what its program reported of its failure, on one line; may be empty
  std::string session;    ///< id of the program's session; may be empty
  bool forgiven = false;  ///< `baton retry`: counts neither as an attempt nor as done
  std::optional<double> cost_usd;  ///< as the agent reported it
  std::optional<std::int64_t> tokens;
  /// The end of its stdout (at most kOutputBytes, valid UTF-8); "" while it runs. Of a program with
  /// an adapter: of what the agent says in it (core/agent_text.h).
  std::string output;
  std::string errors;  ///< the end of its stderr, at most kErrorBytes
  Millis duration{0};  ///< of the agent's program; 0 while it runs

  bool live() const { return state != RunState::ended; }
  bool operator==(const Run&) const = default;
};

/// The id of a run as a UUID (RFC 4122, version 4), for programs that want one.
std::string uuid_of(const RunId& run);

/// A part of `most`, from nothing to all of it: repeatable for one run, spread over different runs.
Millis varied(Millis most, const RunId& run);

/// Processes of the run may still live, and no person has looked after them.
inline bool left_something(const Run& run) {
  return run.reason == kCouldNotStop && !run.forgiven && !run.live();
}

/// The program ended well, and a dialect has found that its work failed. The reason says why.
inline bool work_failed(const Run& run) {
  return run.outcome == Outcome::succeeded && !run.reason.empty() && run.reason != kCouldNotStop &&
         run.reason != kLookedAfter;
}

/// `baton retry`: baton may do the work again. A run that succeeded stays done; only the processes
/// it left are marked as looked after.
inline void forgive(Run& run) {
  if (run.outcome == Outcome::succeeded && left_something(run))
    run.reason = kLookedAfter;
  else
    run.forgiven = true;
}

}  // namespace baton
