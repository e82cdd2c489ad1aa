#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "core/event.h"
#include "core/flow.h"

namespace baton {

// ---- writes a dialect asks for; each names what it assumes of the file, and is dropped if that no
// ---- longer holds (then everything is decided again) --------------------------------------------

struct SetMembers {
  std::string path;
  Digest assumes;
  std::vector<json::Edit> edits;
  std::string why;
  bool operator==(const SetMembers&) const = default;
};
struct Replace {
  std::string path;
  Digest assumes;
  std::string text;
  std::string why;
  bool operator==(const Replace&) const = default;
};
/// `Append::assumes_bytes` of a log that is never read back (`FileKind::kept`): at its end,
/// wherever that is; it is created when it does not exist. The lines must be like no others in the
/// file, so that after a crash they can be looked for.
inline constexpr std::uint64_t kAtEnd = std::uint64_t{1} << 62U;
/// Appends to a file of lines; creates it when `assumes_bytes` is 0 and it does not exist.
struct Append {
  std::string path;
  std::uint64_t assumes_bytes = 0;
  std::string text;  ///< whole lines
  std::string why;
  bool operator==(const Append&) const = default;
};
struct Create {
  std::string path;  ///< must not exist; missing folders are made
  std::string text;
  std::string why;
  bool vital = true;  ///< false: where it cannot be made, the flow goes on
  bool operator==(const Create&) const = default;
};
struct Move {
  std::string from;
  Digest assumes;  ///< all zero: whatever stands there, also nothing (a log that is not kept)
  std::string to;  ///< must not exist; missing folders are made
  std::string why;
  bool operator==(const Move&) const = default;
};
/// A copy for worse days (Dialect::backups): compressed, sent through the plan's filter, created as
/// `path`. Where that fails it is told about, and the flow goes on.
struct Backup {
  std::string path;
  std::string text;
  std::string why;
  bool operator==(const Backup&) const = default;
};
using Update = std::variant<SetMembers, Replace, Append, Create, Move, Backup>;

// ---- what should be true
// --------------------------------------------------------------------------

/// A command that stands in for the role's own (a shell action of a loop).
struct Action {
  std::vector<std::string> argv;
  std::string input;  ///< stdin
  bool counts_as_spawn = true;
  bool operator==(const Action&) const = default;
};

/// "This agent should have run for this subject in its present stage."
struct Desired {
  Role role;
  Subject subject;
  Word purpose;
  std::uint32_t turn = 0;
  std::vector<Claim> claims;
  std::optional<Action> action;
  std::optional<RunLimits> limits;   ///< instead of the role's
  std::optional<RetryLimits> retry;  ///< instead of the configured ones
  std::string why;
  /// What cannot be started as it stands (a program that is missing, a value that cannot be passed)
  /// is told to the dialect (View::refused), which counts it, instead of waiting to be mended.
  bool counts_refusal = false;
  bool operator==(const Desired&) const = default;
};

/// Why something is not started. `reason` is an enumerated word (`no_place`, `backing_off` ...),
/// `why` a sentence for people.
struct Hold {
  Role role;
  Subject subject;  ///< empty: the whole flow
  Word reason;
  std::string why;
  bool operator==(const Hold&) const = default;
};

/// "No live run of this role for this subject is wanted" (started for an earlier generation, unless
/// `any_generation`), once it has lived `after` beyond the entry into the present stage.
struct Release {
  Role role;        ///< empty: any
  Subject subject;  ///< empty: any
  bool any_generation = false;
  Millis after{0};
  std::string why;
  bool operator==(const Release&) const = default;
};

struct Notice {
  Word event;
  Subject subject;
  std::string why;
  bool operator==(const Notice&) const = default;
};

/// What a run has cost by a report the dialect has read; nothing: the report does not say.
struct Spent {
  RunId run;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
  bool operator==(const Spent&) const = default;
};

/// What a flow as a whole is to do. pause: no new starts, running agents get the grace of the
/// dialect. stop: no new starts, running agents are ended. idle: finished, foreign, or nothing to
/// do yet.
enum class Control { run, pause, stop, idle };

/// Everything a dialect says about one flow at one moment. A function of the view, so deciding
/// twice changes nothing.
struct Decision {
  Control control = Control::run;
  std::optional<Time>
      end_at;  ///< with Control::pause: when agents still running are ended; nothing: never
  std::vector<Desired> desired;
  std::vector<Hold> holds;
  std::vector<Claim> claims;  ///< held by the flow itself
  /// Files that the daemon keeps locked (flock) as long as this is the decision: for other
  /// programs, which see by it that somebody lives. The kernel lets them go when the daemon dies.
  std::vector<std::string> locks;
  std::vector<Release> releases;
  std::vector<Update> updates;
  Json memo;
  std::vector<Notice> notices;
  std::vector<Spent> spent;    ///< entered into the runs
  std::vector<Reply> replies;  ///< to requests the dialect deals with itself
  std::optional<Time> wake;    ///< look again then, at the latest
  /// The same for housekeeping, and for what may come from outside or not at all: nothing waits for
  /// it, so `--once` does not either.
  std::optional<Time> tidy;
  Json details;          ///< what `status --json` tells besides, an object; null: nothing
  Word declared;         ///< the flow's own word for where it stands, for status; may be empty
  bool failed = false;   ///< the flow has ended badly by its own account
  std::string standing;  ///< for status: why nothing is to be done, or why it failed; may be empty
  std::optional<std::uint32_t> spawns_per_hour;  ///< instead of the configured one
};

// ---- what is to be done
// ---------------------------------------------------------------------------

struct Start {
  Key key;
  std::uint32_t attempt = 1;
  Desired desired;
  bool operator==(const Start&) const = default;
};
struct Stop {
  RunId run;
  Word reason;
  std::string why;
  bool operator==(const Stop&) const = default;
};
/// A flow that is not to start anything more until somebody resumes it.
struct PauseFlow {
  FlowId flow;
  Word reason;
  std::string why;
  bool operator==(const PauseFlow&) const = default;
};
using Effect = std::variant<Start, Stop, PauseFlow>;

}  // namespace baton
