// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify_facts.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "engine/decide/status.h"

namespace baton {
namespace {

constexpr std::size_t kLines = 10;
/// A program may write a line of any length.
constexpr std::size_t kMostBytes = 4096;

std::string last_lines(std::string_view text) {
  text = trimmed(text, "\r\n");
  std::size_t begin = text.size();
  for (std::size_t line = 0; line < kLines && begin != std::string_view::npos && begin > 0; ++line)
    begin = text.rfind('\n', begin - 1);
  text.remove_prefix(begin == std::string_view::npos || begin == 0 ? 0 : begin + 1);
  if (text.size() > kMostBytes)
    text.remove_prefix(text.size() - kMostBytes);
  // Do not begin within a character.
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U)
    text.remove_prefix(1);
  return std::string(text);
}

/// Of the newest run of the subject that ran and has ended; without a subject, of any.
std::string last_errors(const FlowRecord& record, const Subject& subject) {
  const auto run = std::find_if(record.runs.rbegin(), record.runs.rend(), [&](const Run& each) {
    return !each.live() && each.outcome != Outcome::voided &&
           (subject.empty() || each.key.subject == subject);
  });
  return run == record.runs.rend() ? "" : last_lines(run->errors);
}

/// Whether the hold is what the event reports.
bool is_of(const Hold& hold, const Event& event) {
  return hold.subject == event.subject && (event.role.empty() || hold.role == event.role);
}

/// The hold that the event reports: one of its condition, else any hold of its subject.
const Hold* hold_of(const FlowRecord& record, const Event& event) {
  const Hold* other = nullptr;
  const auto fits = [&](const Hold& hold) {
    if (!is_of(hold, event))
      return false;
    if (hold.cause.condition == condition_of(event))
      return true;
    if (other == nullptr && !event.subject.empty())
      other = &hold;
    return false;
  };
  if (record.held && fits(*record.held))
    return &*record.held;
  const auto found = std::find_if(record.holds.begin(), record.holds.end(), fits);
  return found == record.holds.end() ? other : &*found;
}

/// Whether the event reports the order that is in force.
bool is_ordered(const ControlRow& control, const Event& event) {
  return (control.control == Control::pause || control.control == Control::stop) &&
         word(cause_of(control.control, control.reason).condition) == event.event;
}

NotifyFacts facts_of(const FlowRecord& record, const FlowStatus& status, const Event& event) {
  NotifyFacts facts{.cause = status.cause,
                    .since = status.since,
                    .why = status.why,
                    .action = status.action,
                    .errors = last_errors(record, event.subject),
                    .cost = status.cost};
  if (const auto stage = record.stages.find(event.subject); stage != record.stages.end())
    facts.since = stage->second.since;
  const Standing& standing = record.decision.standing;
  // A flow that is done, or has no files and nothing due, is held up by nothing. Of files that are
  // gone the status says all.
  const bool whole =
      status.absent || status.cause.condition == Condition::done ||
      (status.cause.condition == Condition::gone && condition_of(event) == Condition::gone);
  if (const Hold* const hold = whole ? nullptr : hold_of(record, event)) {
    facts.cause = hold->cause;
    facts.why = hold->why;
    facts.action = hold->action;
  } else if (is_ordered(record.control, event)) {
    // The status is `running` while its agents run.
    facts.cause = cause_of(record.control.control, record.control.reason);
    facts.why = record.control.why;
    facts.action = command("resume", record.id);
  } else if (status.cause.condition != condition_of(event) &&
             standing.cause.condition == condition_of(event)) {
    // The status is `running` while another agent of the flow is at work.
    facts.cause = standing.cause;
    facts.why = standing.why;
    facts.action = standing.action;
  }
  return facts;
}

std::optional<NotifyFacts> facts_of_root(const FlowRecords& records, const Plan& plan,
                                         const Event& event) {
  // `disk_full` and `root_away` are both events and reasons.
  if (const auto reason = parse_reason(event.event); reason && *reason != Reason::none)
    return NotifyFacts{.cause = Cause(*reason), .since = event.time, .why = event.why};
  const std::vector<FlowStatus> all = statuses(records, plan);
  if (!all.empty() && all.front().flow == FlowId{} &&
      word(all.front().cause.condition) == event.event)
    return NotifyFacts{.cause = all.front().cause,
                       .since = all.front().since,
                       .why = all.front().why,
                       .action = all.front().action};
  const auto root = records.find(FlowId{});
  if (root != records.end() && is_ordered(root->second.control, event))
    return NotifyFacts{.cause = cause_of(root->second.control.control, root->second.control.reason),
                       .since = event.time,
                       .why = event.why,
                       .action = std::string(kResumeAll)};
  const bool existing = std::any_of(records.begin(), records.end(), [](const auto& row) {
    return row.second.control.reason == word(Reason::existing);
  });
  if (existing && event.event == word(Condition::blocked))
    return NotifyFacts{.cause = Cause(Reason::existing), .since = event.time, .why = event.why};
  return std::nullopt;
}

}  // namespace

std::optional<Condition> condition_of(const Event& event) {
  return event.event == "finished" ? Condition::done : parse_condition(event.event);
}

std::optional<NotifyFacts> notify_facts(const FlowRecords& records, const Plan& plan,
                                        const Event& event) {
  if (event.flow == FlowId{})
    return facts_of_root(records, plan, event);
  const auto record = records.find(event.flow);
  if (record == records.end())
    return std::nullopt;
  const auto root = records.find(FlowId{});
  const ControlRow whole = root == records.end() ? ControlRow{} : root->second.control;
  return facts_of(record->second, status_of(record->second, plan, whole), event);
}

}  // namespace baton
