// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a dialect asks for (`Decision`) and what the reconciler makes of it (`Effect`).
// A dialect only describes what should be true: files to write, agents that should have run. The
// engine performs it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "core/condition.h"
#include "core/event.h"
#include "core/flow.h"

namespace baton {

// ---- Writes.
// Each write names the version of the file that it assumes. If the file has changed since, baton
// drops the write and decides again.

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
/// Value of `Append::assumes_bytes` for a log that baton never reads back (`FileKind::kept`):
/// append at the end, create the file if it is missing. The lines must be unique in the file, so
/// that a restart after a crash can tell whether they were written.
inline constexpr std::uint64_t kAtEnd = std::uint64_t{1} << 62U;
/// Appends to a file of lines. Creates the file if `assumes_bytes` is 0 and it does not exist.
struct Append {
  std::string path;
  std::uint64_t assumes_bytes = 0;
  std::string text;  ///< whole lines
  std::string why;
  bool operator==(const Append&) const = default;
};
struct Create {
  std::string path;  ///< must not exist; missing folders are created
  std::string text;
  std::string why;
  bool vital = true;  ///< false: the flow goes on if this write fails
  bool operator==(const Create&) const = default;
};
struct Move {
  std::string from;
  Digest assumes;  ///< all zero: any version, or no file at all
  std::string to;  ///< must not exist; missing folders are created
  std::string why;
  bool operator==(const Move&) const = default;
};
/// A backup (Dialect::backups). baton compresses it, sends it through the plan's filter and creates
/// `path`. If that fails, baton notifies people and the flow goes on.
struct Backup {
  std::string path;
  std::string text;
  std::string why;
  bool operator==(const Backup&) const = default;
};
using Update = std::variant<SetMembers, Replace, Append, Create, Move, Backup>;

// ---- What a dialect wants.

/// A command that runs instead of the role's agent (a shell action of a loop).
struct Action {
  std::vector<std::string> argv;
  std::string input;  ///< stdin
  bool counts_as_spawn = true;
  bool operator==(const Action&) const = default;
};

/// "This agent should have run for this subject in its current stage."
struct Desired {
  Role role;
  Subject subject;
  Word purpose;
  std::uint32_t turn = 0;
  std::vector<Claim> claims;
  std::optional<Action> action;
  /// The number of the first attempt under this key. A dialect that repeats work under a new key
  /// counts on.
  std::uint32_t first_attempt = 1;
  std::optional<RunLimits> limits;   ///< override those of the role
  std::optional<RetryLimits> retry;  ///< override the configured ones
  std::string why;
  /// If the start is impossible (missing program, a value that cannot be passed), baton reports
  /// that to the dialect (View::refused) instead of holding the flow. The dialect counts it.
  bool counts_refusal = false;
  /// The last run for this role and subject ended well and changed nothing. This start
  /// does its work again, under another turn.
  bool repeats = false;
  /// If limits leave only some starts of a rule or dialect, those with the smallest rank come
  /// first. Infinity: behind all that have a number. Not set: by entry into the stage alone.
  std::optional<double> rank = {};
  bool operator==(const Desired&) const = default;
};

/// Why something is not started.
struct Hold {
  Role role;
  Subject subject;  ///< empty: the whole flow
  Cause cause;
  std::string why;                 ///< a sentence for people
  std::string action = {};         ///< see Standing
  std::optional<Time> until = {};  ///< see Standing
  std::string cap = {};            ///< the cap of more than one flow that is reached; see cap_name
  bool operator==(const Hold&) const = default;
};

/// How much of the work is done, for overviews.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  Word unit;  ///< `steps`, `groups` ...
  bool operator==(const Progress&) const = default;
};

/// "No live run of this role for this subject is wanted any more." baton stops runs of earlier
/// generations (with `any_generation` of all). It waits `after` from the entry into the current
/// stage, or from the start of the run if that is later.
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

/// The cost of a run, from a report that the dialect has read. A value that is not set is not in
/// the report.
struct Spent {
  RunId run;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
  bool operator==(const Spent&) const = default;
};

/// What a flow as a whole should do.
/// pause: no new starts; running agents may finish within the dialect's grace period.
/// stop: no new starts; running agents are stopped.
/// idle: finished, run by another program, or nothing to do yet.
enum class Control { run, pause, stop, idle };

/// Everything a dialect says about one flow at one moment. It is a function of the view, so
/// deciding twice gives the same.
struct Decision {
  Control control = Control::run;
  std::optional<Time> end_at;  ///< with Control::pause: stop running agents then; not set: never
  std::vector<Desired> desired;
  std::vector<Hold> holds;
  std::vector<Claim> claims;  ///< held by the flow itself
  /// Files that the daemon keeps locked (flock) while this decision stands. The lock shows other
  /// programs that the flow has an owner. The kernel releases it if the daemon dies.
  std::vector<std::string> locks;
  std::vector<Release> releases;
  std::vector<Update> updates;
  Json memo;
  std::vector<Notice> notices;
  std::vector<Spent> spent;    ///< recorded with the runs
  std::vector<Reply> replies;  ///< to requests that the dialect answers itself
  std::optional<Time> wake;    ///< decide again then, at the latest
  /// Decide again then for housekeeping, or to look whether another program has ended. `run --once`
  /// does not wait for it.
  std::optional<Time> tidy;
  Json details;   ///< additional members for `status --json`: an object or null
  Word declared;  ///< the flow's own status word, for `baton status`; may be empty
  /// How the flow stands by its own files if no agent runs, nothing is held and nothing starts.
  /// `done` and `failed` are the ends of a flow; an end counts before all holds of `waiting`.
  Standing standing;
  std::vector<Subject> ends;  ///< subjects that have reached a declared end
  /// Subjects in the order of the layout, for people. Others follow by name.
  std::vector<Subject> order;
  std::vector<FlowId> needs;  ///< flows that have to be finished before this one starts anything
  bool finished = false;      ///< flows that need this one may start
  std::optional<Progress> progress;              ///< for `baton status`
  std::optional<std::uint32_t> spawns_per_hour;  ///< overrides the configured one
  /// How many attempts subjects have whose attempts the dialect counts; 0: no number is known.
  std::map<Subject, std::uint32_t> attempts_max;
  /// Rejected files that the dialect deals with itself, by path. They do not block the flow.
  std::vector<std::string> own_faults;
  /// Runs that ended well while their work failed, and why: `no_report`. Recorded with the runs.
  std::map<RunId, Word> failed_work;
};

// ---- What the reconciler decides.

struct Start {
  Key key;
  std::uint32_t attempt = 1;
  Desired desired;
  /// The agent that does the work: that of the role, or one that stands in for it. Empty: an
  /// action.
  Role agent;
  bool operator==(const Start&) const = default;
};
struct Stop {
  RunId run;
  Word reason;
  std::string why;
  bool operator==(const Stop&) const = default;
};
/// The flow starts nothing more until a person resumes it.
struct PauseFlow {
  FlowId flow;
  Word reason;
  std::string why;
  bool operator==(const PauseFlow&) const = default;
};
using Effect = std::variant<Start, Stop, PauseFlow>;

}  // namespace baton
