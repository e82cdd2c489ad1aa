// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a notification says beside its event: how the flow stands at that moment, and the last
// error output.
//
// Problem: an event is one line of the history. A person who gets it on a phone wants to know what
// is wrong, and which command helps.
// Way: the hold that the event is about, else the flow's own end, else the status of the flow.
// Limits: nothing is decided here. Which events are sent is in notifier.cpp.

#include <optional>
#include <string>

#include "base/time.h"
#include "core/condition.h"
#include "core/event.h"
#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

struct NotifyFacts {
  Cause cause;
  Time since{};
  std::string why;
  std::string action;          ///< see Standing
  std::string errors;          ///< the last ten lines of stderr of the newest run that has ended
  std::optional<double> cost;  ///< of the flow, in US dollars
  bool operator==(const NotifyFacts&) const = default;
};

/// The condition that begins with this event; nothing for all other events.
std::optional<Condition> condition_of(const Event& event);

/// `records` and `plan` are those after the step of the event. Nothing: neither flow nor root has
/// such a condition.
std::optional<NotifyFacts> notify_facts(const FlowRecords& records, const Plan& plan,
                                        const Event& event);

}  // namespace baton
