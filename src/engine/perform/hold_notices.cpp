// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/hold_notices.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/decide/status.h"

namespace baton {
namespace {

/// Whether a person hears of the hold, once when it begins.
bool lasting(const Hold& hold) {
  // The event `gone` comes from the file itself, `login_refused` from the run that met it. A cap of
  // many flows is told once for all of them, see `tell_caps`.
  return (hold.cause.condition == Condition::blocked ||
          hold.cause.condition == Condition::failed) &&
         hold.cause.reason != Reason::unconfigured && hold.cause.reason != Reason::login_refused &&
         hold.cap.empty();
}

/// Whether the flow goes on by itself: an agent runs, or a start is due or comes later.
bool goes_on(const FlowRecord& record, const std::vector<Hold>& holds, const Plan& plan) {
  return record.live() ||
         std::any_of(plan.starts.begin(), plan.starts.end(),
                     [&](const Start& start) { return start.key.flow == record.id; }) ||
         std::any_of(holds.begin(), holds.end(), [](const Hold& hold) {
           return hold.cause.reason == Reason::back_off ||
                  hold.cause.reason == Reason::free_place || hold.cause.reason == Reason::claimed;
         });
}

/// Whether a file of the flow is rejected or gone.
bool has_wrong_file(const FlowRecord& record, const std::vector<Hold>& holds) {
  return !record.rejected.empty() || std::any_of(holds.begin(), holds.end(), [](const Hold& hold) {
    return hold.cause.condition == Condition::gone;
  });
}

/// Adds an event for each new hold that needs a person. Returns the holds that count as notified.
/// `later`: leaves new ones to the next daemon, because a command notifies nobody.
std::vector<Hold> tell_lasting(Draft& next, const FlowRecord& known, const std::vector<Hold>& holds,
                               const Plan& plan, bool later) {
  // A rejected file is told when the flow comes to stand. That an agent changed nothing is not true
  // of a file that is wrong.
  const bool moves = goes_on(known, holds, plan);
  const bool wrong = has_wrong_file(known, holds);
  const auto too_early = [&](const Hold& hold) {
    return (moves && hold.cause.reason == Reason::file_rejected) ||
           (wrong && hold.cause.reason == Reason::no_change);
  };
  std::vector<Hold> told;
  // The root's caps are told by `tell_caps`.
  if (known.id == FlowId{})
    std::copy_if(known.notified.holds.begin(), known.notified.holds.end(), std::back_inserter(told),
                 [](const Hold& hold) { return hold.cause.reason == Reason::cap_reached; });
  // A short-lived hold may hide a lasting one that was notified. The lasting one will be back, and
  // must not be notified again.
  std::copy_if(known.notified.holds.begin(), known.notified.holds.end(), std::back_inserter(told),
               [&](const Hold& notified) {
                 return std::any_of(holds.begin(), holds.end(), [&](const Hold& hold) {
                   return !lasting(hold) && notified.role == hold.role &&
                          notified.subject == hold.subject;
                 });
               });
  for (auto at = holds.begin(); at != holds.end(); ++at) {
    const Hold& hold = *at;
    const bool before = known.notified.has(hold);
    if (!lasting(hold) || (!before && (later || too_early(hold))))
      continue;
    // One cause may hold several roles of a subject. Roles that differ in why are told each.
    const bool again = std::any_of(holds.begin(), at, [&](const Hold& other) {
      return other.cause == hold.cause && other.subject == hold.subject &&
             (other.role.empty() || other.role == hold.role || other.why == hold.why);
    });
    if (!before && !again)
      next.event(Word(word(hold.cause.condition)), known.id, hold.why, hold.subject, hold.role);
    Hold notified{hold.role, hold.subject, hold.cause, ""};
    if (std::find(told.begin(), told.end(), notified) == told.end())
      told.push_back(std::move(notified));
  }
  return told;
}

/// The folders of the root that cannot be listed. Of the root itself the daemon tells in another
/// way.
std::vector<Hold> to_tell_of_root(const FlowRecord& root) {
  std::vector<Hold> all;
  for (const auto& [folder, row] : root.rejected)
    if (folder != ".")
      all.push_back(
          Hold{"", folder, Reason::folder_unreadable, folder + ": " + first_message(row)});
  return all;
}

/// All that a person may have to hear of: the holds, what is wrong with the files, and that baton
/// itself has paused the flow.
std::vector<Hold> to_tell(const FlowRecord& record, const std::vector<Hold>& holds) {
  if (record.id == FlowId{})
    return to_tell_of_root(record);
  if (record.decision.standing.cause.condition == Condition::done)
    return {};
  std::vector<Hold> all = holds;
  const auto add = [&](const Hold& one) {
    if (std::none_of(all.begin(), all.end(),
                     [&](const Hold& hold) { return hold.cause == one.cause; }))
      all.push_back(one);
  };
  if (record.held)
    add(*record.held);
  if (record.control.control == Control::pause)
    add(Hold{"", "", cause_of(Control::pause, record.control.reason), record.control.why});
  add_rejected(record, all);
  return all;
}

}  // namespace

void note_holds(Draft& next, const FlowRecord& known, const Plan& plan, bool later) {
  std::vector<Hold> holds = known.decision.holds;
  if (const auto planned = plan.holds.find(known.id); planned != plan.holds.end())
    holds.insert(holds.end(), planned->second.begin(), planned->second.end());
  std::vector<Hold> told = tell_lasting(next, known, to_tell(known, holds), plan, later);
  if (holds == known.holds && told == known.notified.holds)
    return;
  FlowRecord& record = next.touch(known.id);
  record.notified.holds = std::move(told);
  record.holds = std::move(holds);
}

}  // namespace baton
