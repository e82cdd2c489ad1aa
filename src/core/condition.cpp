// SPDX-License-Identifier: Apache-2.0
#include "core/condition.h"

#include <algorithm>

namespace baton {
namespace {

constexpr std::uint16_t kRunning = bit(Condition::running);
constexpr std::uint16_t kWaiting = bit(Condition::waiting);
constexpr std::uint16_t kBlocked = bit(Condition::blocked);
constexpr std::uint16_t kFailed = bit(Condition::failed);
constexpr std::uint16_t kEnded = bit(Condition::stopped) | bit(Condition::paused);
constexpr std::uint16_t kIdle = bit(Condition::idle);

using C = Condition;
using R = Reason;
constexpr std::array<ReasonRow, 60> kReasons = {{
    {R::none, "", bit(C::done), C::done, "the end was reached"},
    {R::agent, "agent", kRunning | kEnded, C::running,
     "running: an agent is at work; stopped, paused: an agent asked for it"},
    {R::ending, "ending", kRunning, C::running, "its agents are being ended"},
    {R::start, "start", kWaiting, C::waiting, "an agent is about to be started"},
    {R::back_off, "back_off", kWaiting, C::waiting, "a pause before the next attempt"},
    {R::dependency, "dependency", kWaiting, C::waiting,
     "another flow or subject has to come first; `why` names it"},
    {R::condition, "condition", kWaiting, C::waiting, "a condition of the rule is not met yet"},
    {R::free_place, "free_place", kWaiting, C::waiting, "all places for agents are taken"},
    {R::claimed, "claimed", kWaiting, C::waiting, "another agent has what this one needs"},
    {R::hours, "hours", kWaiting, C::waiting,
     "agents do not start at this time of day; they do from `until`"},
    {R::rate_breaker, "rate_breaker", kWaiting, C::waiting, "a file changes too often"},
    {R::settling, "settling", kWaiting, C::waiting,
     "a file is still being written or waits to be looked at; after a start, a reload or lost "
     "events that goes for the whole root"},
    {R::pending_write, "pending_write", kWaiting, C::waiting,
     "a write of baton's own is still to be made"},
    {R::no_daemon, "no_daemon", kWaiting, C::waiting, "no daemon serves the root"},
    {R::draining, "draining", kWaiting, C::waiting, "the daemon ends when its last agent has"},
    {R::root_away, "root_away", kWaiting, C::waiting, "the root is not there"},
    {R::disk_full, "disk_full", kWaiting, C::waiting, "the disk of the state folder is full"},
    {R::cannot_start, "cannot_start", kWaiting | kBlocked, C::waiting,
     "nothing can be started now; tried again. `blocked`: a person has to act"},
    {R::journal_locked, "journal_locked", kWaiting, C::waiting,
     "another program locks a database of baton's; `why` names it"},
    {R::provider_limit, "provider_limit", kWaiting, C::waiting,
     "the provider of the agent has a limit, until `until`"},
    {R::transient, "transient", kWaiting, C::waiting,
     "the provider of the agent failed for the moment; tried again"},
    {R::approval_wanted, "approval_wanted", kBlocked, C::blocked, "a person has to approve"},
    {R::answer_wanted, "answer_wanted", kBlocked, C::blocked, "a person has to answer"},
    {R::continue_wanted, "continue_wanted", kBlocked, C::blocked, "a person has to let it go on"},
    {R::file_rejected, "file_rejected", kBlocked, C::blocked,
     "a file is wrong; its last good version counts"},
    {R::file_missing, "file_missing", kBlocked, C::blocked, "a file that is needed is not there"},
    {R::folder_unreadable, "folder_unreadable", kBlocked, C::blocked, "a folder cannot be listed"},
    {R::no_stage, "no_stage", kBlocked, C::blocked, "no file says where the subject stands"},
    {R::role_missing, "role_missing", kBlocked, C::blocked, "no agent plays the role"},
    {R::agent_unusable, "agent_unusable", kBlocked, C::blocked,
     "the agent's program, prompt or folder cannot be used"},
    {R::no_change, "no_change", kBlocked, C::blocked,
     "the agent ended well and left the stage as it was"},
    {R::interrupted, "interrupted", kBlocked | kFailed, C::blocked,
     "a run was cut off and may have done its work"},
    {R::conflict, "conflict", kBlocked, C::blocked, "documents contradict each other"},
    {R::write_conflict, "write_conflict", kBlocked, C::blocked,
     "a writer keeps breaking the rules"},
    {R::write_refused, "write_refused", kBlocked, C::blocked,
     "a write of baton's own is refused by a schema, by permissions, or because its file belongs "
     "to "
     "no dialect or rule any more"},
    {R::existing, "existing", kBlocked, C::blocked,
     "it was there at the first start, with too many others"},
    {R::reverted, "reverted", kBlocked, C::blocked, "git put back an earlier version of a file"},
    {R::log_changed, "log_changed", kBlocked, C::blocked,
     "lines of a log that were read have been changed or removed"},
    {R::unknown_stage, "unknown_stage", kBlocked, C::blocked, "the rule knows no such stage"},
    {R::unknown_dependency, "unknown_dependency", kBlocked, C::blocked,
     "a flow or subject that has to come first is not there"},
    {R::unconfigured, "unconfigured", kBlocked, C::blocked,
     "the configuration has no rule or dialect for it, or none that can be used"},
    {R::moved, "moved", kBlocked, C::blocked, "another configuration gave a file to this flow"},
    {R::max_entries, "max_entries", kWaiting | kBlocked, C::blocked,
     "a subject has entered a stage as often as allowed; `waiting`: within a span of time"},
    {R::cap_reached, "cap_reached", kBlocked | kFailed, C::blocked,
     "a limit of starts or of cost is reached"},
    {R::login_refused, "login_refused", kBlocked, C::blocked,
     "the provider refuses the login or the credit of the agent"},
    {R::attempts_exhausted, "attempts_exhausted", kFailed, C::failed, "all attempts have failed"},
    {R::max_steps, "max_steps", kFailed, C::failed, "the loop has used up its steps"},
    {R::timed_out, "timed_out", kFailed, C::failed, "the loop has used up its time"},
    {R::loop_error, "loop_error", kFailed, C::failed, "the loop ended by an error"},
    {R::declared, "declared", kFailed, C::failed, "the files say so"},
    {R::could_not_stop, "could_not_stop", kFailed, C::failed,
     "a run left processes that nothing ends"},
    {R::cannot_launch, "cannot_launch", kFailed, C::failed,
     "the command cannot be made for this flow"},
    {R::by_operator, "operator", kEnded, C::paused, "a person of this machine asked for it"},
    {R::files, "files", kEnded | bit(C::gone), C::paused,
     "stopped, paused: the files say so; gone: files are missing"},
    {R::signal, "signal", kEnded, C::stopped, "a signal ended its program"},
    {R::limit, "limit", kEnded, C::stopped, "a loop without an end has made its last pass"},
    {R::not_started, "not_started", kIdle, C::idle, "nobody has begun it"},
    {R::no_reaction, "no_reaction", kIdle, C::idle, "no reaction is for this stage"},
    {R::nothing_due, "nothing_due", kIdle, C::idle, "everything of this stage is done"},
    {R::other_program, "other_program", kIdle, C::idle, "another program runs it"},
}};

constexpr bool complete() {
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (static_cast<std::size_t>(kReasons.at(i).reason) != i ||
        (kReasons.at(i).conditions & bit(kReasons.at(i).usual)) == 0)
      return false;
  for (std::size_t i = 0; i < kConditions.size(); ++i)
    if (static_cast<std::size_t>(kConditions.at(i).condition) != i)
      return false;
  return static_cast<std::size_t>(Reason::other_program) + 1 == kReasons.size() &&
         static_cast<std::size_t>(Condition::gone) + 1 == kConditions.size();
}
static_assert(complete(), "one row per word, in the order of the enumeration");

}  // namespace

std::span<const ReasonRow> reasons() {
  return kReasons;
}
const ConditionRow& row_of(Condition condition) {
  return kConditions.at(static_cast<std::size_t>(condition));
}
const ReasonRow& row_of(Reason reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}
std::string_view word(Condition condition) {
  return row_of(condition).word;
}
std::string_view word(Reason reason) {
  return row_of(reason).word;
}

std::optional<Condition> parse_condition(std::string_view word) {
  for (const ConditionRow& row : kConditions)
    if (row.word == word)
      return row.condition;
  return std::nullopt;
}

std::optional<Reason> parse_reason(std::string_view word) {
  for (const ReasonRow& row : kReasons)
    if (row.word == word)
      return row.reason;
  return std::nullopt;
}

Cause::Cause(Reason why) : condition(row_of(why).usual), reason(why) {}

std::string text(const Cause& cause) {
  const std::string condition(word(cause.condition));
  return cause.reason == Reason::none ? condition
                                      : condition + ": " + std::string(word(cause.reason));
}

bool fits(const Cause& cause) {
  return (row_of(cause.reason).conditions & bit(cause.condition)) != 0;
}

void add_cause(const Cause& cause, Json& object) {
  object.set("condition", Json(word(cause.condition)));
  object.set("reason", cause.reason == Reason::none ? Json() : Json(word(cause.reason)));
}

std::optional<Cause> cause_in(const Value& object) {
  const auto condition = parse_condition(json::text(object, "condition").value_or(""));
  const auto reason = parse_reason(json::text(object, "reason").value_or(""));
  if (!condition || !reason || !fits({*condition, *reason}))
    return std::nullopt;
  return Cause{*condition, *reason};
}

bool before(const Cause& one, const Cause& other) {
  return row_of(one.condition).rank < row_of(other.condition).rank;
}

}  // namespace baton
