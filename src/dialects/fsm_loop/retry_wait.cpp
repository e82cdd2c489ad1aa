// SPDX-License-Identifier: Apache-2.0

// The part of the machine that retries an action after a rate limit or an error of the agent's
// service.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/memo_fields.h"

namespace baton::fsm_loop {

namespace {

struct MarkerRow {
  std::string_view marker;
  Signal::Kind kind;
  bool needs_text;
};
constexpr std::array kMarkers = {
    MarkerRow{"CONTEXT_HANDOFF:", Signal::Kind::handoff, true},
    MarkerRow{"FATAL_ERROR:", Signal::Kind::error, true},
    MarkerRow{"LOOP_STOP:", Signal::Kind::stop, false},
};
constexpr std::string_view kBlanks = " \t\r";

/// `behind`: the output after this line.
Signal of_line(std::string_view line, std::string_view behind, bool anywhere) {
  for (const MarkerRow& row : kMarkers) {
    const auto at = anywhere ? line.find(row.marker) : line.find_first_not_of(kBlanks);
    if (at == std::string_view::npos || !line.substr(at).starts_with(row.marker))
      continue;
    std::string_view text = trimmed(line.substr(at + row.marker.size()));
    // The text may stand on the next line.
    if (text.empty()) {
      const std::string_view next = trimmed(behind);
      text = trimmed(next.substr(0, next.find('\n')));
    }
    if (!text.empty() || !row.needs_text)
      return Signal{row.kind, std::string(text)};
  }
  return {};
}

constexpr std::array<std::string_view, 6> kRateLimit = {"rate limit",     "rate_limit",
                                                        "quota exceeded", "too many requests",
                                                        "usage limit",    "resource exhausted"};
constexpr std::array<std::string_view, 6> kServer = {"internal server error", "service unavailable",
                                                     "bad gateway",           "gateway timeout",
                                                     "overloaded_error",      "api error: 5"};
constexpr std::array<std::string_view, 4> kRefused = {"unauthorized", "authentication_error",
                                                      "invalid api key", "permission_denied"};

/// Words of failures that a repetition may not meet again, besides those above.
constexpr std::array<std::string_view, 29> kTransient = {"connection refused",
                                                         "connection timeout",
                                                         "network error",
                                                         "dns resolution",
                                                         "connection reset",
                                                         "service unavailable",
                                                         "econnrefused",
                                                         "enotfound",
                                                         "etimedout",
                                                         "timeout",
                                                         "timed out",
                                                         "deadline exceeded",
                                                         "disk full",
                                                         "no space left",
                                                         "resource temporarily unavailable",
                                                         "too many open files",
                                                         "memory allocation failed",
                                                         "out of memory",
                                                         "overloaded",
                                                         "api error",
                                                         "prompt is too long",
                                                         "context length exceeded",
                                                         "context window",
                                                         "maximum context",
                                                         "command not found",
                                                         "read-only variable",
                                                         "killed",
                                                         "file \"<string>\"",
                                                         "file \"<stdin>\""};

bool letter(char c) {
  return c >= 'a' && c <= 'z';
}

/// Whether the beginning of a line consists of words that stand before the name of an error, as in
/// `API Error: 429 Too many requests` or `You have hit your usage limit`.
bool begins_error(std::string_view before) {
  constexpr std::array<std::string_view, 16> kWords = {
      "api",  "code",    "error",  "exceeded", "failed", "fatal", "have", "hit",
      "http", "reached", "status", "the",      "type",   "ve",    "you",  "your"};
  while (!before.empty()) {
    const auto end = static_cast<std::size_t>(
        std::find_if_not(before.begin(), before.end(), letter) - before.begin());
    const std::string_view word = before.substr(0, end);
    if (!word.empty() && std::find(kWords.begin(), kWords.end(), word) == kWords.end())
      return false;
    before.remove_prefix(std::max<std::size_t>(end, 1));
  }
  return true;
}

/// Whether the text has one of the words; with `reported`, as the name of an error.
template <std::size_t N>
bool says(std::string_view text, const std::array<std::string_view, N>& words, bool reported) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      const std::size_t newline = text.substr(0, at).rfind('\n');
      const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
      if (!reported || begins_error(text.substr(begin, at - begin)))
        return true;
    }
    return false;
  });
}

/// Whether the text has an HTTP status: `HTTP/1.1 429`, `API Error: 429`, `"status":429`, or `429:`
/// at the beginning of a line. The same number elsewhere does not count.
bool says_status(const std::string& text, std::string_view code) {
  constexpr std::array<std::string_view, 4> kBefore = {"error", "status", "code", "http"};
  for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code, at + 1)) {
    const std::size_t end = at + code.size();
    const char behind = end < text.size() ? text[end] : '\n';
    if (letter(behind) || (behind >= '0' && behind <= '9') || behind == '.')
      continue;
    if ((at == 0 || text[at - 1] == '\n') && (behind == ':' || behind == '\n'))
      return true;
    const std::string_view line =
        std::string_view(text).substr(0, at).substr(text.rfind('\n', at) + 1);
    const std::size_t last = line.find_last_not_of(" :=\"'([/.10");
    if (last == std::string_view::npos || last + 1 == line.size())
      continue;
    const std::string_view before = line.substr(0, last + 1);
    if (std::any_of(kBefore.begin(), kBefore.end(),
                    [&](std::string_view word) { return before.ends_with(word); }))
      return true;
  }
  return false;
}

constexpr std::int64_t kStormThreshold = 3;
constexpr Millis kWaitEventInterval{60'000};  ///< between two events of a long wait

/// A few retries after a short wait.
struct RetryRule {
  const char* event;      ///< the event of a retry
  const char* exhausted;  ///< the event when no retry is left
  std::int64_t tries;
  Millis wait;
  std::int64_t Work::*made;  ///< the counter of the retries
};
constexpr RetryRule kServerRetry{"api_error_retry", "api_error_exhausted", 2, Millis{30'000},
                                 &Work::api_tries};
constexpr RetryRule kCutOffRetry{"infra_retry", "infra_retry_exhausted", 2, Millis{5'000},
                                 &Work::infra_tries};

}  // namespace

Signal signal_in(std::string_view output, bool anywhere) {
  // Begins at the end, because the last such line counts.
  std::size_t end = output.size();
  for (;;) {
    const auto newline = end == 0 ? std::string_view::npos : output.rfind('\n', end - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (Signal signal = of_line(output.substr(begin, end - begin), output.substr(end), anywhere);
        signal.kind != Signal::Kind::none)
      return signal;
    if (newline == std::string_view::npos)
      return {};
    end = newline;
  }
}

Failure failure_of(const ActionResult& action, bool by_agent) {
  if (action.throttled)
    return Failure::rate_limit;
  if (action.exit_code == 0 || !action.not_run.empty() || !action.timeout_kind.empty())
    return Failure::ordinary;
  const std::string text = lower(action.output) + "\n" + lower(action.error_output);
  if (says(text, kRateLimit, by_agent) || says_status(text, "429"))
    return Failure::rate_limit;
  if (says(text, kRefused, by_agent) || says_status(text, "401") || says_status(text, "403"))
    return Failure::refused;
  if (says(text, kServer, by_agent))
    return Failure::server;
  constexpr int kTerm = 15;
  const bool ended = action.exit_code == -kTerm || action.exit_code == 128 + kTerm;
  return ended && !action.output.empty() ? Failure::cut_off : Failure::ordinary;
}

std::string_view failure_type(const ActionResult& action) {
  constexpr std::array<std::string_view, 5> kWords = {"real", "transient", "transient",
                                                      "infra_retry", "non_recoverable"};
  if (action.exit_code == 0)
    return "";
  const Failure failure = failure_of(action);
  const std::string text = lower(action.output) + "\n" + lower(action.error_output);
  const bool passes = std::any_of(kTransient.begin(), kTransient.end(), [&](std::string_view word) {
    return text.find(word) != std::string::npos;
  });
  return failure == Failure::ordinary && (passes || !action.timeout_kind.empty())
             ? "transient"
             : kWords.at(static_cast<std::size_t>(failure));
}

template <class Visit>
void fields(Waited& waited, Visit visit) {
  visit("short_retries", waited.short_retries);
  visit("long_retries", waited.long_retries);
  visit("total_wait_seconds", waited.total_seconds);
  visit("first_seen_at", waited.first_seen_at);
}

Waited waited_of(const Value* entry) {
  Waited waited;
  if (entry != nullptr)
    read_memo(*entry, waited);
  // Older files have only the number of short waits.
  if (const auto count = entry == nullptr ? std::nullopt : json::integer(*entry))
    waited.short_retries = *count;
  return waited;
}

Json json_of(const Waited& waited) {
  return write_memo(waited);
}

std::optional<Wait> next_wait(const RateLimit& limit, const Waited& waited, std::string_view salt) {
  if (waited.short_retries < limit.max_retries) {
    constexpr std::int64_t kMostDoublings = 20;
    const auto doublings = std::min(waited.short_retries, kMostDoublings);
    std::uint32_t seed = 2166136261U;
    for (const char c : salt)
      seed = (seed ^ static_cast<unsigned char>(c)) * 16777619U;
    const auto spread = Millis(limit.base.count() * static_cast<std::int64_t>(seed % 1000U) / 1000);
    return Wait{limit.base * (std::int64_t{1} << doublings) + spread, false};
  }
  const bool spent = std::chrono::seconds(waited.total_seconds) >= limit.max_wait;
  if (limit.ladder.empty() || spent)
    return std::nullopt;
  const auto rung =
      std::min(static_cast<std::size_t>(waited.long_retries), limit.ladder.size() - 1);
  return Wait{limit.ladder[rung], true};
}

/// Whether the service of the agent rejected the action. If so, it schedules a retry, or goes on
/// without an evaluation.
bool Machine::retries_later(Frame& frame, const ActionResult& result) {
  const LoopState& state = *state_of(frame);
  // baton searches the output of a shell command only if its state handles rate limits.
  if (!state.by_agent() && state.rate_limit.exhausted.empty())
    return false;
  const Failure failure = failure_of(result, state.by_agent());
  switch (failure) {
    case Failure::ordinary:
      break;
    case Failure::rate_limit:
      return wait_for_rate_limit(frame, result);
    case Failure::server:
    case Failure::cut_off:
      return retry_soon(frame, failure);
    case Failure::refused:
      if (store_failed_result(frame, result))
        fault(frame, "the service of the agent refused its login");
      return true;
  }
  frame.record.exhaustions = 0;
  return false;
}

/// Stores the result like that of any other action, because no retry is left. False as with
/// `add_capture`.
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

/// `waited` does not include the present wait.
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
