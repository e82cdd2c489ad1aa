// The part of the machine that waits in place: what was turned away is tried again after a while.

#include <algorithm>

#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/output_signals.h"

namespace baton::fsm_loop {

namespace {

constexpr std::int64_t kStorm = 3;
constexpr Millis kBeat{60'000};  ///< between two signs of life of a long wait

/// What is tried again after a short while, a few times.
struct Again {
  const char* event;      ///< of a further try
  const char* exhausted;  ///< when there are no more
  std::int64_t tries;
  Millis wait;
  std::int64_t Work::*made;  ///< so many were
};
constexpr Again kServerAgain{"api_error_retry", "api_error_exhausted", 2, Millis{30'000},
                             &Work::api_tries};
constexpr Again kCutOffAgain{"infra_retry", "infra_retry_exhausted", 2, Millis{5'000},
                             &Work::infra_tries};

}  // namespace

/// Whether it was turned away, and not by what it did: then it is tried again after a while, or
/// leads on without being judged.
bool Machine::waits(Frame& frame, const ActionResult& result) {
  const LoopState& state = *state_of(frame);
  // What a command prints is its own business, unless its state says what a rate limit leads to.
  if (!state.by_agent() && state.rate_limit.exhausted.empty())
    return false;
  switch (failure_of(result)) {
    case Failure::ordinary:
      break;
    case Failure::rate_limit:
      return wait_for_room(frame, result);
    case Failure::server:
    case Failure::cut_off:
      return try_again(frame, failure_of(result));
    case Failure::refused:
      if (turned_away(frame, result))
        fault(frame, "the agent was refused: it is not allowed in");
      return true;
  }
  frame.record.exhaustions = 0;
  return false;
}

/// It is not tried again: for what comes next it is an action like any other, but for the verdict.
/// False as with `keep`.
bool Machine::turned_away(Frame& frame, const ActionResult& result) {
  if (!keep_result(frame, result))
    return false;
  frame.record.prev_result = prev_of(frame.record.current_state, &*frame.work.result);
  return true;
}

bool Machine::wait_for_room(Frame& frame, const ActionResult& result) {
  Record& record = frame.record;
  const LoopState& state = *state_of(frame);
  Waited waited = waited_of(json::child(*record.rate_limits, state.name));
  if (waited.first_seen_at.empty())
    waited.first_seen_at = stamp(scene_.view.wall);
  const auto wait = next_wait(state.rate_limit, waited, frame.work.announced);
  if (wait) {
    frame.work.until_ms = (scene_.view.now + wait->time).time_since_epoch().count();
    tell_wait(frame, waited, wait->long_tier);
    ++(wait->long_tier ? waited.long_retries : waited.short_retries);
    waited.total_seconds += (wait->time.count() + 999) / 1000;
    record.rate_limits.set(state.name, json_of(waited));
    if (wait->long_tier) {
      frame.work.waits_since_ms = scene_.now_ms();
      frame.work.beat_ms = scene_.now_ms() + kBeat.count();
    }
    ++frame.work.tries;
    stage(frame, "act");
    return true;
  }
  record.rate_limits.erase(state.name);
  if (!turned_away(frame, result))
    return true;
  const Way way = state.rate_limit.exhausted.empty()
                      ? route_fault(loop_, state, "the rate limit did not lift", values(frame))
                      : follow(loop_, state, state.rate_limit.exhausted, values(frame));
  events_.add("rate_limit_exhausted",
              Json::object({{"state", state.name},
                            {"retries", waited.short_retries + waited.long_retries},
                            {"short_retries", waited.short_retries},
                            {"long_retries", waited.long_retries},
                            {"total_wait_seconds", waited.total_seconds},
                            {"next", way.to}}));
  if (++record.exhaustions >= kStorm)
    events_.add("rate_limit_storm",
                Json::object({{"state", state.name}, {"count", record.exhaustions}}));
  take(frame, way, "error");
  return true;
}

/// `waited`: before this wait.
void Machine::tell_wait(const Frame& frame, const Waited& waited, bool long_tier) {
  const LoopState& state = *state_of(frame);
  const std::int64_t since = frame.work.waits_since_ms;
  const std::int64_t elapsed = since == 0 ? 0 : (scene_.now_ms() - since) / 1000;
  const Millis left(std::max<std::int64_t>(0, frame.work.until_ms - scene_.now_ms()));
  events_.add("rate_limit_waiting",
              Json::object({{"state", state.name},
                            {"elapsed_seconds", elapsed},
                            {"next_attempt_at", stamp(scene_.view.wall + left)},
                            {"total_waited_seconds", waited.total_seconds + elapsed},
                            {"budget_seconds", state.rate_limit.max_wait.count() / 1000},
                            {"tier", long_tier ? "long" : "short"}}));
}

/// A long wait says now and then that it goes on.
void Machine::beat(Frame& frame) {
  Work& work = frame.work;
  if (work.beat_ms == 0 || work.beat_ms > scene_.now_ms() || state_of(frame) == nullptr)
    return;
  Waited before = waited_of(json::child(*frame.record.rate_limits, frame.record.current_state));
  before.total_seconds -= (work.until_ms - work.waits_since_ms + 999) / 1000;
  tell_wait(frame, before, true);
  work.beat_ms = scene_.now_ms() + kBeat.count();
}

bool Machine::try_again(Frame& frame, Failure failure) {
  const Again& again = failure == Failure::server ? kServerAgain : kCutOffAgain;
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
  frame.work.until_ms = (scene_.view.now + again.wait).time_since_epoch().count();
  stage(frame, "act");
  return true;
}

}  // namespace baton::fsm_loop
