// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process that becomes the agent. It is made before its run is known, shares the shim's memory
// (as after vfork), makes the claim and enters the agent's program. So a start waits neither for a
// fork nor for the shim, and exec has no memory to release.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <sys/types.h>

#include "shim/launch.h"
#include "shim/proc.h"
#include "shim/protocol.h"
#include "shim/record.h"

namespace baton::shim {

/// What the shim knows about the agent's process.
struct Agent {
  pid_t pid = 0;
  int out = -1;       ///< reading end of its stdout, non-blocking
  int err = -1;       ///< reading end of its stderr
  int out_log = -1;   ///< log file of its stdout; -1: none
  int err_log = -1;   ///< log file of its stderr; -1: none
  int failures = -1;  ///< end of file: the program was entered; else a Failure
  int entry = -1;     ///< end of file: the process has left the shim's memory
  int timer = -1;     ///< a timerfd that runs from the claim on
};

/// The state of a start, shared by the shim and the agent's process until the program is entered.
/// The process does everything up to the claim by itself, woken by the daemon's byte. The shim
/// sleeps meanwhile where SIGTERM can wake it, and does not count as load while it is a spare. The
/// shim must touch neither this, nor errno, nor the heap, before `stand_by` has returned.
struct Start {
  const char* run_id = nullptr;
  pid_t shim = 0;
  int out = -1;  ///< the writing ends of the agent's pipes
  int err = -1;
  int failures = -1;
  int entry = -1;
  int timer = -1;
  bool briefed = false;        ///< the first byte has come
  std::int64_t steady_ms = 0;  ///< time of the claim; see supervise.h
  std::int64_t unix_ms = 0;
  std::atomic<bool> claimed = false;  ///< from here on it counts as an attempt
  std::optional<ShimExit> refused;    ///< why nothing was claimed; nothing: the process was killed
  Launch launch;                      ///< once `claimed`
  Stat agent;
  std::array<char, kPathBytes> cgroup_path{};  ///< "": no cgroup
};

/// The stack of the agent's process until its program is entered.
using Stack = std::array<std::byte, std::size_t{256} * 1024>;

/// Creates missing log files, if possible.
void make_logs(Agent& agent);

/// Returns false when no pipe or process is available; then nothing is left behind.
bool make_agent(Start& start, Stack& stack, Agent& agent);

/// Whether a SIGTERM is pending.
bool asked_to_end();

/// Sleeps until the process has left the shim's memory: its program was entered, or it has ended.
/// Ends it on SIGTERM (which stays in `signals`, a signalfd) or when a limit is over, and then
/// returns the cause; else nullptr. Only a claimed process that cannot be killed may still be
/// there. A stopped process is continued.
const char* stand_by(int signals, const Start& start, const Agent& agent);

/// Forgets a process that has ended without a claim. The logs stay open for the next one.
void abandon(Agent& agent);

}  // namespace baton::shim
