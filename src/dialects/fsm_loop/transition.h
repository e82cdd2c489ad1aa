#pragma once

#include <string>

#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

// Finds the next state after a verdict, an error or a throttle.

/// Where the loop goes next.
struct Transition {
  enum class Kind {
    to,     ///< to the state `to`, which exists
    error,  ///< the loop fails; see `why`
    stop,   ///< a signal ended the action: the loop is interrupted
  };
  Kind kind = Kind::to;
  std::string to;
  std::string why;     ///< for error and stop
  std::string reason;  ///< for the event, such as `retry_exhausted`; may be empty
  bool operator==(const Transition&) const = default;
};

/// By verdict. With `route`: the word itself, for an error `_error`, then `_`, and for a no
/// `_error`. Without it: `on_WORD`, and `on_error` for a no without `on_no`. A verdict without a
/// target is an error, also for a loop with `maintain`. `values.result` must be that of the
/// verdict, because targets may use it.
Transition transition_for(const Loop& loop, const LoopState& state, const Verdict& verdict,
                          const ActionResult* action, const Values& values);

/// For a state with `next`.
Transition transition_by_next(const Loop& loop, const LoopState& state, const ActionResult* action,
                              const Values& values);

/// After an error that is not the action's own: a placeholder without a value, a program that does
/// not start. Only `on_error`, `error` and `_error` apply.
Transition transition_after_fault(const Loop& loop, const LoopState& state, const std::string& why,
                                  const Values& values);

/// For a state that was entered too often: `on_throttle_hard`, else the target for errors, else the
/// state itself.
Transition transition_when_throttled(const Loop& loop, const LoopState& state,
                                     const Values& values);

/// Fills in the placeholders of a target and resolves `$current`. An error when there is no such
/// state.
Transition resolve_target(const Loop& loop, const LoopState& state, const std::string& target,
                          const Values& values);

}  // namespace baton::fsm_loop
