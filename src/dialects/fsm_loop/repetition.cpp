// SPDX-License-Identifier: Apache-2.0

// The part of the machine that ends what goes round: retries, the throttle, repeated failures.

#include <optional>
#include <string>

#include "dialects/findings.h"
#include "dialects/fsm_loop/machine.h"

namespace baton::fsm_loop {

/// Applies `max_retries`. True if the loop does not enter this state.
bool Machine::out_of_retries(Frame& frame, const LoopState& state) {
  Record& record = frame.record;
  const auto retries = record.retries.find(state.name);
  if (state.retry.max == 0 || retries == record.retries.end() || retries->second <= state.retry.max)
    return false;
  const Transition transition = resolve_target(loop_, state, state.retry.exhausted, values(frame));
  events_.add(
      "retry_exhausted",
      Json::object({{"state", state.name}, {"retries", retries->second}, {"next", transition.to}}));
  record.retries.erase(retries);
  if (transition.kind != Transition::Kind::to)
    end(Status::failed, "error", false, transition.why);
  else if (transition.to != state.name)
    change_state(record, state.name, transition.to);
  return true;
}

/// Counts an action that has ended. True if it has run so often in a row that its result does not
/// decide where the loop goes.
bool Machine::throttled(Frame& frame, const LoopState& state) {
  if (!state.throttle || frame.work.summary)
    return false;
  const Throttle& most = *state.throttle;
  const std::int64_t count = ++frame.record.entries[state.name];
  const auto report = [&](std::string_view event, const Json& more) {
    events_.add(event,
                merged(*Json::object(
                           {{"state", state.name}, {"count", count}, {"hard_max", most.hard_max}}),
                       *more));
  };
  if (count == most.warn_max)
    report("throttle_warn",
           Json::object({{"normal_max", most.normal_max}, {"warn_max", most.warn_max}}));
  if (count < most.hard_max)
    return false;
  if (count > most.hard_max) {
    report("throttle_stop", Json::object());
    end(Status::failed, "error", false,
        "the action of the state " + quoted_word(state.name) + " has run more than " +
            std::to_string(most.hard_max) + " times in a row (throttle)");
    return true;
  }
  const auto transition = transition_when_throttled(loop_, state, values(frame));
  report("throttle_hard", Json::object({{"next", transition ? Json(transition->to) : Json()}}));
  if (!transition)
    return false;
  apply(frame, *transition, {});
  return true;
}

/// Counts the outcome of a state. Where the loop goes instead, if it has repeated itself too often.
std::optional<Transition> Machine::stalled(Frame& frame, const LoopState& state,
                                           const std::string& verdict) {
  if (!loop_.repeated_failure || !state.loop.empty() || frame.work.summary)
    return std::nullopt;
  const RepeatedFailure& most = *loop_.repeated_failure;
  const int exit_code = frame.work.result ? frame.work.result->exit_code : 0;
  const std::string outcome = state.name + " " + std::to_string(exit_code) + " " + verdict;
  Outcomes& seen = frame.outcomes;
  seen.in_a_row = seen.last == outcome ? seen.in_a_row + 1 : 1;
  seen.last = outcome;
  Json payload =
      Json::object({{"state", state.name}, {"exit_code", exit_code}, {"verdict", verdict}});
  std::int64_t count = most.window;
  if (seen.in_a_row >= most.window) {
    payload.set("consecutive", count);
  } else {
    count = most.recurrent ? ++seen.all[outcome] : 0;
    if (!most.recurrent || count < *most.recurrent)
      return std::nullopt;
    payload.set("recurrent", count);
  }
  payload.set("action", most.target.empty() ? "abort" : "route:" + most.target);
  events_.add("stall_detected", payload);
  if (!most.target.empty())
    return resolve_target(loop_, state, most.target, values(frame));
  return Transition{Transition::Kind::stall,
                    {},
                    "the state " + quoted_word(state.name) + " gave the verdict " +
                        quoted_word(verdict) + " with exit code " + std::to_string(exit_code) +
                        " " + std::to_string(count) + " times (circuit.repeated_failure)",
                    {}};
}

}  // namespace baton::fsm_loop
