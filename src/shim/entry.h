// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last steps into the agent's program: reset the signals, run `before`, exec. A failure is
// explained on the agent's stderr, and reported to the shim through a pipe.

#include "shim/launch.h"

namespace baton::shim {

/// Why the agent's program could not be entered.
struct Failure {
  enum class Step : int {
    launch,
    cwd,
    standard_input,
    exec,
    before,
    before_timeout,
    user
  } step = Step::exec;
  int number = 0;  ///< errno; 0: `before` ran and failed
};

/// What a failed step is called in exit.json, and the cause there.
struct FailureRow {
  const char* step;
  const char* cause;
};
const FailureRow& row_of(Failure::Step step);

/// Sets all signals to their default action, also those that glibc reserves.
void reset_signals();

/// Moves the descriptor `from` to the number `to`, and keeps it open across exec.
void place(int from, int to);

/// Writes to the agent's stderr, where people look, why the program was not entered. errno says
/// what failed and keeps its value.
void complain(const char* what);
/// Reports the same to the shim through the pipe `failures` and ends this process.
[[noreturn]] void leave(int failures, Failure::Step step);

/// Makes this process one of the launch's user, without capabilities. On failure, calls `leave`.
void become(const Launch& launch, int failures);

/// Enters the agent's program; on failure, calls `leave`.
[[noreturn]] void enter(const Launch& launch, int failures);

/// The same for a launch with `before`, which may take long, so the process must leave the shim's
/// memory first. It becomes `baton-shim enter`, which calls `prepare_and_enter`.
[[noreturn]] void leave_memory(const char* run_id, int failures);
[[noreturn]] void prepare_and_enter(const char* run_id);

}  // namespace baton::shim
