#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

// What the output of an action says about the loop and about the agent's service: marker lines,
// rate limits, server errors.

/// What an action asks of its loop with a line of its output.
struct Signal {
  enum class Kind { none, handoff, error, stop };
  Kind kind = Kind::none;
  std::string text;  ///< rest of the line, trimmed
  bool operator==(const Signal&) const = default;
};

/// `CONTEXT_HANDOFF: TEXT`, `FATAL_ERROR: TEXT` or `LOOP_STOP: [TEXT]` at the beginning of a line,
/// after blanks. The last such line counts. `anywhere`: also within a line, as in the original;
/// then an agent that quotes its instructions triggers it.
Signal signal_in(std::string_view output, bool anywhere);

/// Why an action failed, as far as its output shows (version 1.10 of the original).
enum class Failure {
  ordinary,
  rate_limit,  ///< worth waiting for
  server,      ///< an error of the service behind the agent: retry soon
  cut_off,     ///< SIGTERM ended it after it had printed something: retry soon
  refused,     ///< not authorised: a retry does not help
};
/// `ordinary` for an action that succeeded, whatever it printed.
Failure failure_of(const ActionResult& action);

/// The waits of a state so far: `rate_limit_retries` of the state file.
struct Waited {
  std::int64_t short_retries = 0;
  std::int64_t long_retries = 0;
  std::int64_t total_seconds = 0;
  std::string first_seen_at;
};
Waited waited_of(const Value* entry);
Json json_of(const Waited& waited);

/// How long to wait now, and in which tier. Nothing when all retries are used up. `salt` spreads
/// the waits of loops that were rejected at the same time.
struct Wait {
  Millis time{0};
  bool long_tier = false;
};
std::optional<Wait> next_wait(const RateLimit& limit, const Waited& waited, std::string_view salt);

}  // namespace baton::fsm_loop
