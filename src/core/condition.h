// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words in which baton says how a flow stands: nine conditions, and a reason for each.
//
// Problem: people, scripts and monitors all ask the same: does somebody have to act, and why?
// Way: every hold and every end of a dialect has one `Cause`. Two tables say what follows from it
// for `--wait`, `run --once` and `notify:`. status, explain, events, completions, the JSON schemas
// and docs/status.md are derived from these tables or compared with them in tests.
// Limits: the words are for good. A further reason needs a row here and a line in docs/status.md.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/time.h"

namespace baton {

enum class Condition : std::uint8_t {
  running,
  waiting,
  blocked,
  failed,
  stopped,
  paused,
  done,
  idle,
  gone,
};

enum class Reason : std::uint8_t {
  none,  // of `done`
  // running; `agent` also of stopped and paused
  agent,
  ending,
  // waiting
  start,
  back_off,
  dependency,
  condition,
  free_place,
  claimed,
  hours,
  rate_breaker,
  settling,
  pending_write,
  no_daemon,
  draining,
  root_away,
  disk_full,
  cannot_start,
  journal_locked,
  provider_limit,
  transient,
  // blocked
  approval_wanted,
  answer_wanted,
  continue_wanted,
  file_rejected,
  file_missing,
  folder_unreadable,
  no_stage,
  role_missing,
  agent_unusable,
  no_change,
  interrupted,
  conflict,
  write_conflict,
  write_refused,
  existing,
  reverted,
  log_changed,
  unknown_stage,
  unknown_dependency,
  unconfigured,
  moved,
  max_entries,
  cap_reached,
  login_refused,
  // failed
  attempts_exhausted,
  max_steps,
  timed_out,
  loop_error,
  declared,
  could_not_stop,
  cannot_launch,
  // stopped, paused
  by_operator,
  files,
  signal,
  limit,
  // idle
  not_started,
  no_reaction,
  nothing_due,
  other_program,
};

/// What a waiting command does when it meets a condition.
enum class Outlook : std::uint8_t {
  goes_on,   ///< go on waiting
  by_until,  ///< go on waiting if it is known when the condition ends by itself; else end with 1
  fine,      ///< end with 0
  failed,    ///< end with 1
};

/// Whether `notify:` hears of a condition when it begins.
enum class Notified : std::uint8_t {
  never,
  once,
  unless_operator,  ///< not if an operator of this machine asked for it
};

struct ConditionRow {
  Condition condition;
  std::string_view word;
  std::string_view means;
  bool person;     ///< a person has to act
  Outlook waited;  ///< for `--wait`
  Outlook once;    ///< for `run --once`
  Notified notify;
  int rank;  ///< where several fit, the smallest counts
};
inline constexpr std::array<ConditionRow, 9> kConditions = {{
    {Condition::running, "running", "an agent is at work, or is being ended", false,
     Outlook::goes_on, Outlook::goes_on, Notified::never, 0},
    {Condition::waiting, "waiting", "the next start comes by itself", false, Outlook::goes_on,
     Outlook::by_until, Notified::never, 6},
    {Condition::blocked, "blocked", "something is due, and somebody has to do something first",
     true, Outlook::by_until, Outlook::by_until, Notified::once, 4},
    {Condition::failed, "failed", "attempts are used up, the loop gave up, or the files say so",
     true, Outlook::failed, Outlook::failed, Notified::once, 3},
    {Condition::stopped, "stopped", "it was ended and does not go on by itself", false,
     Outlook::failed, Outlook::failed, Notified::unless_operator, 5},
    {Condition::paused, "paused", "it was paused", false, Outlook::goes_on, Outlook::failed,
     Notified::unless_operator, 5},
    {Condition::done, "done", "it has reached an end that its layout declares", false,
     Outlook::fine, Outlook::fine, Notified::once, 1},
    {Condition::idle, "idle", "nothing is due", false, Outlook::fine, Outlook::fine,
     Notified::never, 7},
    {Condition::gone, "gone", "files that it needs are gone", true, Outlook::failed,
     Outlook::failed, Notified::once, 2},
}};

struct ReasonRow {
  Reason reason;
  std::string_view word;
  std::uint16_t conditions;  ///< the conditions it may stand beside, as bits
  Condition usual;           ///< the condition of a hold that names none
  std::string_view means;
};
constexpr std::uint16_t bit(Condition condition) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(condition));
}
/// One row per reason, in the order of `Reason`.
std::span<const ReasonRow> reasons();

const ConditionRow& row_of(Condition condition);
const ReasonRow& row_of(Reason reason);
std::string_view word(Condition condition);
std::string_view word(Reason reason);
std::optional<Condition> parse_condition(std::string_view word);
std::optional<Reason> parse_reason(std::string_view word);

/// A condition with its reason.
struct Cause {
  Condition condition = Condition::idle;
  Reason reason = Reason::nothing_due;

  constexpr Cause() = default;
  constexpr Cause(Condition its, Reason why) : condition(its), reason(why) {}
  /// The usual condition of the reason.
  Cause(Reason why);  // NOLINT(google-explicit-constructor)
  bool operator==(const Cause&) const = default;
};
/// `blocked: no_change`, or `done`.
std::string text(const Cause& cause);
/// Whether the tables allow the pair.
bool fits(const Cause& cause);

/// How something stands: a flow, a subject of it, or the start of one agent.
struct Standing {
  Cause cause;
  std::string why;     ///< one sentence for people
  std::string action;  ///< `do`: the command or the edit that removes the cause; may be empty
  std::optional<Time> until;  ///< when the cause ends by itself, if that is known
  bool operator==(const Standing&) const = default;
};

/// Whether `one` counts before `other` for a flow that has both.
bool before(const Cause& one, const Cause& other);

/// One state that a dialect tells apart, and what people are told of it.
struct StateRow {
  std::string_view state;  ///< the dialect's own word
  Cause cause;
};

/// Adds `condition` and `reason` to an object. The reason of `done` is null.
void add_cause(const Cause& cause, Json& object);
/// Reads them back. Nothing: they are not there, or the words are unknown.
std::optional<Cause> cause_in(const Value& object);

}  // namespace baton
