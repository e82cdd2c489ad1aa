#pragma once

#include <sys/types.h>

#include "shim/launch.h"

namespace baton::shim {

/// The agent's process between fork and exec. It is made ahead, stands still until `brief`, which
/// says that there is something to become, and again until `enter`.
struct Agent {
  pid_t pid = 0;      ///< 0: none
  int out = -1;       ///< reading end of its stdout, non-blocking
  int err = -1;       ///< and of its stderr
  int out_log = -1;   ///< where its stdout is to be kept; -1: nowhere
  int err_log = -1;   ///< and its stderr
  int failures = -1;  ///< end of file: its program was entered; else a Failure
  int gate = -1;      ///< closing it without `enter` makes the process leave
};

/// Why the program could not be entered.
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

/// False when a pipe or a process cannot be had; then nothing is left behind.
bool make_agent(int directory, const char* run_id, Agent& agent);
/// False when it has ended while it stood still.
bool still_there(const Agent& agent);
/// Lets it read the launch (kLaunchFd) and open its input. Once.
void brief(const Agent& agent);
/// Lets it go on into its program.
void enter(Agent& agent);
/// Ends a process that was not let go. The logs stay open, for another one.
void abandon(Agent& agent);

}  // namespace baton::shim
