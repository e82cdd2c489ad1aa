#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

/// What an action asks of its loop by a line of its output.
struct Signal {
  enum class Kind { none, handoff, error, stop };
  Kind kind = Kind::none;
  std::string text;  ///< the rest of the line, trimmed
  bool operator==(const Signal&) const = default;
};

/// `CONTEXT_HANDOFF: TEXT`, `FATAL_ERROR: TEXT`, `LOOP_STOP: [TEXT]` at the beginning of a line,
/// blanks before it allowed; the last such line counts. `anywhere`: also within a line, as the
/// original has it; agents that quote their instructions set it off.
Signal signal_in(std::string_view output, bool anywhere);

/// Why an action failed, as far as its output tells (1.10 of the origin).
enum class Failure {
  ordinary,
  rate_limit,  ///< worth waiting for
  server,      ///< an error of the service behind the agent: soon tried again
  cut_off,     ///< ended by SIGTERM when it had said something already: the same
  refused,     ///< not allowed: trying again helps nobody
};
/// `ordinary` for an action that ended well, whatever it printed.
Failure failure_of(const ActionResult& action);

/// What a state has waited for so far; `rate_limit_retries` of the state file.
struct Waited {
  std::int64_t short_retries = 0;
  std::int64_t long_retries = 0;
  std::int64_t total_seconds = 0;
  std::string first_seen_at;
};
Waited waited_of(const Value* entry);
Json json_of(const Waited& waited);

/// How long to wait now, and in which tier; nothing when patience is at its end. `salt` spreads the
/// waits of loops that were turned away together.
struct Wait {
  Millis time{0};
  bool long_tier = false;
};
std::optional<Wait> next_wait(const RateLimit& limit, const Waited& waited, std::string_view salt);

}  // namespace baton::fsm_loop
