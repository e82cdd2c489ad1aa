// SPDX-License-Identifier: Apache-2.0
#include "daemon/notifier.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/text.h"
#include "daemon/log.h"
#include "engine/decide/status.h"
#include "engine/state/flow_record.h"

namespace baton {
namespace {

enum class Told {
  never,
  always,
  if_gone,          ///< when the flow has the condition `gone` by it, once
  unless_operator,  ///< not what an operator of this machine asked for
};

struct EventRow {
  std::string_view word;
  Told told;
  bool person;  ///< a person has to look: a warning in the log
};
/// The events that are passed to the `notify:` command, and those that are warnings in the log. All
/// others are only information in the log.
constexpr std::array kEvents = {
    // Conditions; `finished` is the begin of `done`.
    EventRow{"blocked", Told::always, true},
    EventRow{"failed", Told::always, true},
    EventRow{"gone", Told::if_gone, true},
    EventRow{"finished", Told::always, false},
    EventRow{"stopped", Told::unless_operator, false},
    EventRow{"paused", Told::unless_operator, false},
    // What the configuration or a person asked for.
    EventRow{"notice", Told::always, false},
    EventRow{"reminder", Told::always, true},
    // Of a whole root.
    EventRow{"disk_full", Told::always, true},
    EventRow{"root_away", Told::always, true},
    EventRow{"cannot_start", Told::always, true},
    // Of a provider, once for all flows.
    EventRow{"provider_limit", Told::always, true},
    EventRow{"login_refused", Told::always, true},
    // Of a cap of many flows, once for all of them.
    EventRow{"cap_reached", Told::always, true},
    EventRow{"cap_raised", Told::always, false},
    EventRow{"cost_unknown", Told::always, true},
    EventRow{"runs_counted_again", Told::always, true},
    EventRow{"foreign_processes", Told::always, true},
    // What concerns agents and files.
    EventRow{"stalled", Told::always, true},
    EventRow{"late_write", Told::always, true},
    EventRow{"not_written", Told::always, true},
    EventRow{"restored", Told::always, false},
    // A condition says it to people, if it concerns them.
    EventRow{"rejected", Told::never, true},
    EventRow{"conflict", Told::never, true},
    EventRow{"could_not_stop", Told::never, true},
    EventRow{"warning", Told::never, true},
    EventRow{"history_limited", Told::never, true},
};

const EventRow* row_of(std::string_view word) {
  const auto* const row = std::find_if(kEvents.begin(), kEvents.end(),
                                       [&](const EventRow& each) { return each.word == word; });
  return row == kEvents.end() ? nullptr : row;
}

/// The table of conditions says the same of those events that are conditions.
constexpr bool agrees_with_conditions() {
  for (const ConditionRow& condition : kConditions) {
    const std::string_view word =
        condition.condition == Condition::done ? "finished" : condition.word;
    Notified notified = Notified::never;
    for (const EventRow& row : kEvents)
      if (row.word == word)
        notified = row.told == Told::unless_operator ? Notified::unless_operator : Notified::once;
    if (notified != condition.notify)
      return false;
  }
  return true;
}
static_assert(agrees_with_conditions());

/// Whether the shim failed. The next start will fail in the same way.
bool shim_is_at_fault(const Event& event) {
  const std::string begin = std::string(kDidNotRun) + " (shim_";
  return event.event == "ended" && event.why.starts_with(begin);
}

bool is_gone(const std::optional<NotifyFacts>& facts) {
  return facts && facts->cause.condition == Condition::gone;
}

/// A file that is gone concerns a person only if the flow needs it.
spdlog::level::level_enum level_of(const Event& event, const EventRow* row,
                                   const std::optional<NotifyFacts>& facts) {
  const bool person =
      row != nullptr && row->person && (row->told != Told::if_gone || is_gone(facts));
  return person || shim_is_at_fault(event) ? spdlog::level::warn : spdlog::level::info;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

/// One object of the payload.
Json notification(const std::string& root, const Event& event,
                  const std::optional<NotifyFacts>& facts) {
  const auto condition = condition_of(event);
  // Of a condition, the status has the sentence for people. Other events say something of their
  // own.
  const bool by_status = condition && facts && !facts->why.empty();
  Json object = Json::object({{"schema", "baton/notify/v1"},
                              {"event", event.event},
                              {"time", iso_time(event.time, true)},
                              {"root", root},
                              {"flow", event.flow == FlowId{} ? Json() : Json(text(event.flow))},
                              {"subject", text_or_null(event.subject)}});
  if (facts) {
    add_cause(facts->cause, object);
  } else {
    object.set("condition", condition ? Json(word(*condition)) : Json());
    object.set("reason", Json());
  }
  object.set("since", facts && facts->since != Time{} ? Json(iso_time(facts->since)) : Json());
  object.set("why", text_or_null(by_status ? facts->why : event.why));
  object.set("do", facts ? text_or_null(facts->action) : Json());
  object.set("stderr", facts ? text_or_null(facts->errors) : Json());
  object.set("cost", facts && facts->cost ? Json(*facts->cost) : Json());
  return object;
}

}  // namespace

std::unique_ptr<Notifier::RootObserver> Notifier::on(std::string root) {
  return std::make_unique<RootObserver>(*this, std::move(root));
}

void Notifier::configure(const ServiceConfig& config) {
  // Stays true: a root that the configuration no longer names may still have agents.
  several_ = several_ || config.roots.size() + config.awaited.size() > 1;
  if (config.notify == notify_ && config.notify_timeout == timeout_)
    return;
  notify_ = config.notify;
  timeout_ = config.notify_timeout;
  if (command_) {
    // Nothing more comes to it.
    command_->hurry();
    former_.push_back(std::move(command_));
  }
  drop_former();
  fault_.clear();
  command_ = std::make_unique<NotifyCommand>(
      NotifyCall{config.shim, timeout_, config.notify, config.notify_env});
}

void Notifier::tend() {
  for (const auto& hook : former_)
    hook->poll();
  drop_former();
  command_->poll();
  note_fault();
}

void Notifier::drop_former() {
  std::erase_if(former_, [this](const auto& hook) {
    if (hook->busy())
      return false;
    unsent_ += hook->unsent();
    return true;
  });
}

void Notifier::note_fault() {
  if (command_->fault() == fault_)
    return;
  fault_ = command_->fault();
  if (fault_.empty())
    spdlog::warn("notify: " + printable(notify_.front()) + " works again");
  else
    spdlog::warn("notify: " + printable(notify_.front()) + " " + printable(fault_) +
                 ", so notifications may be lost; not said again until it works");
}

void Notifier::finish(Millis patience) {
  constexpr Millis kPause{20};
  command_->hurry();
  for (Millis passed{0}; busy() && passed < patience; passed += kPause) {
    std::this_thread::sleep_for(kPause);
    tend();
  }
  std::size_t untold = unsent_ + command_->unsent();
  for (const auto& hook : former_)
    untold += hook->unsent();
  if (untold > 0)
    spdlog::warn("not told through notify: " + std::to_string(untold) +
                 (untold == 1 ? " event" : " events"));
}

void Notifier::tell(const std::string& root, const Event& event, const FactsOf& facts_of) {
  std::string line = event.event;
  if (event.flow != FlowId{})
    line += " " + text(event.flow);
  if (!event.subject.empty())
    line += " [" + event.subject + "]";
  if (!event.role.empty())
    line += " " + event.role;
  if (!event.run.empty())
    line += " run " + event.run.substr(0, 8);
  if (!event.why.empty())
    line += ": " + event.why;
  if (several_)
    line.insert(0, root + ": ");
  const EventRow* const row = row_of(event.event);
  const bool sent = row != nullptr && row->told != Told::never && !notify_.empty();
  const bool asked = facts_of && (sent || (row != nullptr && row->told == Told::if_gone));
  const auto facts = asked ? facts_of(event) : std::nullopt;
  log_with_fields(level_of(event, row, facts), printable(line),
                  {{"BATON_EVENT", event.event},
                   {"BATON_FLOW", event.flow == FlowId{} ? "" : text(event.flow)},
                   {"BATON_SUBJECT", event.subject},
                   {"BATON_ROLE", event.role},
                   {"BATON_RUN", event.run},
                   {"BATON_ROOT", root}});
  if (event.event == "back" || event.event == "accepted")
    gone_.erase({root, event.flow});
  if (!sent || !is_news(root, event, facts))
    return;
  command_->send(notification(root, event, facts).dump());
  note_fault();
}

/// Whether people hear of the event. Remembers which flows are gone.
bool Notifier::is_news(const std::string& root, const Event& event,
                       const std::optional<NotifyFacts>& facts) {
  switch (row_of(event.event)->told) {
    case Told::never:
      return false;
    case Told::always:
      return true;
    case Told::if_gone:
      return is_gone(facts) && gone_.emplace(root, event.flow).second;
    case Told::unless_operator:
      return !facts || facts->cause.reason != Reason::by_operator;
  }
  return true;
}

}  // namespace baton
