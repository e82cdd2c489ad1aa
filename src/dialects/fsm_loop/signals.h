#pragma once

#include <string>
#include <string_view>

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

}  // namespace baton::fsm_loop
