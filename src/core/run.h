#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/flow.h"

namespace baton {

/// started: the journal holds the start; its shim is parked, claiming or running.
/// stopping: started, and the journal holds the wish to end it.
/// ended: it has an outcome.
enum class RunState { started, stopping, ended };
std::string_view word(RunState state);

/// How a run ended. `voided`: nothing ran (no claim was made), so the attempt is still to be had.
/// `interrupted`: the machine went down or somebody else ended it; it may have done its work.
/// `unknown`: it ran, and its end was not seen (its shim was killed).
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
};
std::string_view word(Outcome outcome);
std::optional<Outcome> parse_outcome(std::string_view word);

/// How much of a run's output is kept for deciding; all of it lies in its log.
inline constexpr std::size_t kOutputBytes = 256U << 10U;
/// What of it stays in memory when the run's generation has passed.
inline constexpr std::size_t kOldOutputBytes = 32U << 10U;
inline constexpr std::size_t kErrorBytes = 32U << 10U;  ///< how much is kept of its stderr
/// The role of a dialect's own actions. They need no agent, and count against no hourly budget.
inline constexpr std::string_view kActionRole = "shell";

// Reasons of a voided run. `write_refused` is another.
inline constexpr const char* kNotClaimed = "not_claimed";
inline constexpr const char* kShimMisfit = "shim_misfit";    ///< it does not understand this daemon
inline constexpr const char* kShimUnready = "shim_unready";  ///< it had not what a start needs

/// Reason of a run of which something may live still.
inline constexpr const char* kCouldNotStop = "could_not_stop";
/// The same after somebody has looked, or the system was started anew.
inline constexpr const char* kLookedAfter = "looked_after";

/// What the shim wrote down, or what recovery found out, about the end of a run.
struct RunEnd {
  RunId run;
  Outcome outcome = Outcome::none;
  std::optional<int> exit_code;  ///< when it left by itself
  int signal = 0;                ///< when a signal ended it
  std::string
      reason;  ///< failed, unknown, interrupted: a named reason, e.g. `exit_1`, `exec_failed`
  Time ended{};
  std::int64_t user_ms = 0;
  std::int64_t system_ms = 0;
  std::int64_t max_rss_kib = 0;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  bool leftovers = false;  ///< it left processes behind, which were ended
  std::string output;      ///< see Run::output
  std::string errors;      ///< see Run::errors
  Millis duration{0};      ///< of the agent itself, as its shim measured it
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
  Time started{};
  Time ended{};
  /// Identity of the shim: pid, start time in clock ticks since boot, and the boot it belongs to.
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
  bool forgiven = false;  ///< `retry` was asked for: it counts neither as attempt nor as done
  std::optional<double> cost_usd;  ///< as the agent reported it
  std::optional<std::int64_t> tokens;
  /// The last of what it wrote to stdout (kOutputBytes at most, valid UTF-8); "" while it runs.
  std::string output;
  std::string errors;  ///< the same of stderr, kErrorBytes at most
  Millis duration{0};  ///< of the agent itself, as its shim measured it; 0 while it runs

  bool live() const { return state != RunState::ended; }
  bool operator==(const Run&) const = default;
};

/// Something of it may live still, and nobody has said that he has looked after it.
inline bool left_something(const Run& run) {
  return run.reason == kCouldNotStop && !run.forgiven && !run.live();
}

/// Somebody wants it made again, and has looked after what it left. What ended well and left
/// something is only looked after: it is done.
inline void forgive(Run& run) {
  if (run.outcome == Outcome::succeeded && left_something(run))
    run.reason = kLookedAfter;
  else
    run.forgiven = true;
}

}  // namespace baton
