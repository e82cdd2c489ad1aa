#pragma once

#include <string>

#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

/// Where it goes on.
struct Way {
  enum class Kind {
    to,     ///< to the state `to`, which exists
    error,  ///< the loop ends with an error, `why` says which
    stop,   ///< the action was ended from outside: the loop is interrupted
  };
  Kind kind = Kind::to;
  std::string to;
  std::string why;     ///< of error and stop
  std::string reason;  ///< for the event: `retry_exhausted`; empty: an ordinary way
  bool operator==(const Way&) const = default;
};

/// By verdict: `route` (the word itself, for an error `_error`, `_`, for no `_error`), else the
/// shorthand (the word itself; on_error for a no that has none). A missing way is an error, also of
/// a maintained loop. `values.result` should be the verdict's, so that targets can be computed.
Way route(const Loop& loop, const LoopState& state, const Verdict& verdict,
          const ActionResult* action, const Values& values);

/// The way of a state with `next`.
Way route_next(const Loop& loop, const LoopState& state, const ActionResult* action,
               const Values& values);

/// The way after something that is not the action's own fault: a placeholder that cannot be filled
/// in, a program that cannot be started. Only on_error, `error` and `_error` lead on.
Way route_fault(const Loop& loop, const LoopState& state, const std::string& why,
                const Values& values);

/// The way from a state that was entered too often: its own one for that, else where errors go.
/// Without either it is the state itself.
Way route_throttled(const Loop& loop, const LoopState& state, const Values& values);

/// A target as text becomes a state: placeholders filled in, `$current` resolved. An error for a
/// state that does not exist (any more).
Way follow(const Loop& loop, const LoopState& state, const std::string& target,
           const Values& values);

}  // namespace baton::fsm_loop
