// The part of the machine that retries an action after a rate limit or an error of the agent's
// service.

#include <algorithm>

#include "dialects/fsm_loop/machine.h"

namespace baton::fsm_loop {

namespace {

constexpr std::int64_t kStormThreshold = 3;
constexpr Millis kWaitEventInterval{60'000};  ///< between two events of a long wait

/// A few retries after a short wait.
struct RetryRule {
  const char* event;      ///< of a retry
  const char* exhausted;  ///< event when no retry is left
  std::int64_t tries;
  Millis wait;
  std::int64_t Work::*made;  ///< counter of the retries
};
constexpr RetryRule kServerRetry{"api_error_retry", "api_error_exhausted", 2, Millis{30'000},
                                 &Work::api_tries};
constexpr RetryRule kCutOffRetry{"infra_retry", "infra_retry_exhausted", 2, Millis{5'000},
                                 &Work::infra_tries};

}  // namespace

/// Whether the service rejected the action. If so, schedules a retry, or goes on without an
/// evaluation.
bool Machine::retries_later(Frame& frame, const ActionResult& result) {
  const LoopState& state = *state_of(frame);
  // The output of a shell command is not searched, unless its state handles rate limits.
  if (!state.by_agent() && state.rate_limit.exhausted.empty())
    return false;
  switch (failure_of(result)) {
    case Failure::ordinary:
      break;
    case Failure::rate_limit:
      return wait_for_rate_limit(frame, result);
    case Failure::server:
    case Failure::cut_off:
      return retry_soon(frame, failure_of(result));
    case Failure::refused:
      if (store_failed_result(frame, result))
        fault(frame, "the service of the agent refused its login");
      return true;
  }
  frame.record.exhaustions = 0;
  return false;
}

/// No retry is left: stores the result like that of any other action. False as with `add_capture`.
bool Machine::store_failed_result(Frame& frame, const ActionResult& result) {
  if (!store_result(frame, result))
    return false;
  frame.record.prev_result = prev_of(frame.record.current_state, &*frame.work.result);
  return true;
}

bool Machine::wait_for_rate_limit(Frame& frame, const ActionResult& result) {
  Record& record = frame.record;
  const LoopState& state = *state_of(frame);
  Waited waited = waited_of(json::child(*record.rate_limits, state.name));
  if (waited.first_seen_at.empty())
    waited.first_seen_at = stamp(snapshot_.view.wall);
  const auto wait = next_wait(state.rate_limit, waited, frame.work.announced);
  if (wait) {
    frame.work.until_ms = (snapshot_.view.now + wait->time).time_since_epoch().count();
    add_wait_event(frame, waited, wait->long_tier);
    ++(wait->long_tier ? waited.long_retries : waited.short_retries);
    waited.total_seconds += (wait->time.count() + 999) / 1000;
    record.rate_limits.set(state.name, json_of(waited));
    if (wait->long_tier) {
      frame.work.waits_since_ms = snapshot_.now_ms();
      frame.work.next_wait_event_ms = snapshot_.now_ms() + kWaitEventInterval.count();
    }
    ++frame.work.tries;
    stage(frame, "act");
    return true;
  }
  record.rate_limits.erase(state.name);
  if (!store_failed_result(frame, result))
    return true;
  const Transition transition =
      state.rate_limit.exhausted.empty()
          ? transition_after_fault(loop_, state, "the rate limit lasted longer than all retries",
                                   values(frame))
          : resolve_target(loop_, state, state.rate_limit.exhausted, values(frame));
  events_.add("rate_limit_exhausted",
              Json::object({{"state", state.name},
                            {"retries", waited.short_retries + waited.long_retries},
                            {"short_retries", waited.short_retries},
                            {"long_retries", waited.long_retries},
                            {"total_wait_seconds", waited.total_seconds},
                            {"next", transition.to}}));
  if (++record.exhaustions >= kStormThreshold)
    events_.add("rate_limit_storm",
                Json::object({{"state", state.name}, {"count", record.exhaustions}}));
  apply(frame, transition, "error");
  return true;
}

/// `waited`: without this wait.
void Machine::add_wait_event(const Frame& frame, const Waited& waited, bool long_tier) {
  const LoopState& state = *state_of(frame);
  const std::int64_t since = frame.work.waits_since_ms;
  const std::int64_t elapsed = since == 0 ? 0 : (snapshot_.now_ms() - since) / 1000;
  const Millis left(std::max<std::int64_t>(0, frame.work.until_ms - snapshot_.now_ms()));
  events_.add("rate_limit_waiting",
              Json::object({{"state", state.name},
                            {"elapsed_seconds", elapsed},
                            {"next_attempt_at", stamp(snapshot_.view.wall + left)},
                            {"total_waited_seconds", waited.total_seconds + elapsed},
                            {"budget_seconds", state.rate_limit.max_wait.count() / 1000},
                            {"tier", long_tier ? "long" : "short"}}));
}

/// Logs an event of a long wait when it is due.
void Machine::report_long_wait(Frame& frame) {
  Work& work = frame.work;
  if (work.next_wait_event_ms == 0 || work.next_wait_event_ms > snapshot_.now_ms() ||
      state_of(frame) == nullptr)
    return;
  Waited before = waited_of(json::child(*frame.record.rate_limits, frame.record.current_state));
  before.total_seconds -= (work.until_ms - work.waits_since_ms + 999) / 1000;
  add_wait_event(frame, before, true);
  work.next_wait_event_ms = snapshot_.now_ms() + kWaitEventInterval.count();
}

bool Machine::retry_soon(Frame& frame, Failure failure) {
  const RetryRule& again = failure == Failure::server ? kServerRetry : kCutOffRetry;
  const std::string& state = frame.record.current_state;
  std::int64_t& made = frame.work.*again.made;
  if (made >= again.tries) {
    events_.add(again.exhausted, Json::object({{"state", state}, {"retries", made}}));
    return false;
  }
  ++made;
  ++frame.work.tries;
  events_.add(
      again.event,
      Json::object({{"state", state}, {"attempt", made}, {"backoff", again.wait.count() / 1000}}));
  frame.work.until_ms = (snapshot_.view.now + again.wait).time_since_epoch().count();
  stage(frame, "act");
  return true;
}

}  // namespace baton::fsm_loop
