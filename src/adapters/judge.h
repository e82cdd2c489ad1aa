// SPDX-License-Identifier: Apache-2.0
#pragma once

// Says how a finished run ended, from what its program reported.
//
// Problem: programs end with exit status 0 although the work failed, and with another one because
// the provider had no room. A wrong guess costs money or blames the work.
// Way: the first of these that says something decides: baton's own act, the final object, error
// events, an exit status that the adapter knows, known texts on stderr and at the end of stdout,
// the exit status. Prose of the model never decides.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/adapter.h"
#include "adapters/reset_time.h"
#include "core/run.h"

namespace baton {

/// A limit of a provider that a run has met.
struct LimitSeen {
  bool of_model = false;      ///< only the model is limited
  std::optional<Time> until;  ///< when it ends, if the program says so
  bool operator==(const LimitSeen&) const = default;
};

struct Judgement {
  Outcome outcome = Outcome::none;
  Word reason;        ///< with `failed`: `agent_error`, `no_result`, `max_turns`, `exit_1` ...
  std::string error;  ///< what the program reported, on one line; may be empty
  /// Always with `limited`. Also if baton ended the run and the program had met a limit.
  std::optional<LimitSeen> limit;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> tokens;
  /// A cost or a number of tokens that cannot be true, with its place: `-5 at /total_cost_usd`. It
  /// is not part of `cost_usd` and `tokens`. The first one; empty: there is none.
  std::string usage_fault;
  bool thread_tokens = false;     ///< `tokens` are those of all runs of the session
  std::string session;            ///< as the program named it; may be empty
  std::string session_fault;      ///< an id that cannot be kept, on one line; else empty
  bool session_unusable = false;  ///< the session to be continued is gone or in use
  bool denied = false;            ///< the program was not allowed to do something
  bool empty_answer = false;      ///< it ended well, and its answer is empty
};

/// Judges a run. `end`: as its shim recorded it. `prompt`: what the agent was told, because an echo
/// of it is no answer.
Judgement judge(const Adapter& adapter, const RunEnd& end, std::string_view prompt,
                const ResetClock& clock);

/// The first line that is not empty, printable, at most 300 bytes.
std::string one_line(std::string_view text);

}  // namespace baton
