#pragma once

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
    before_timeout
  } step = Step::exec;
  int number = 0;  ///< errno; 0: `before` ran and did not end well
};
const char* step_name(Failure::Step step);
/// The cause in exit.json.
const char* cause_of(Failure::Step step);

/// All signals at their default action, also those glibc keeps for itself.
void reset_signals();

/// Puts `from` at the number `to`, where exec leaves it open.
void place(int from, int to);

/// Why the agent's program is not entered, among what the agent wrote to stderr: that is where
/// people look. errno says what failed, and stays as it is.
void complain(const char* what);
/// Tells the same to the shim, by the pipe `failures`, and ends this process.
[[noreturn]] void leave(int failures, Failure::Step step);

/// Enters the agent's program, or leaves.
[[noreturn]] void enter(const Launch& launch, int failures);

/// The same for a launch with a `before`, which takes as long as it likes: so the process leaves
/// the shim's memory first. It becomes `baton-shim enter`, whose work is `prepare_and_enter`.
[[noreturn]] void leave_memory(const char* run_id, int failures);
[[noreturn]] void prepare_and_enter(const char* run_id);

}  // namespace baton::shim
