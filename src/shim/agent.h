#pragma once

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

/// The agent's process as the shim has it.
struct Agent {
  pid_t pid = 0;
  int out = -1;       ///< reading end of its stdout, non-blocking
  int err = -1;       ///< and of its stderr
  int out_log = -1;   ///< where its stdout is to be kept; -1: nowhere
  int err_log = -1;   ///< and its stderr
  int failures = -1;  ///< end of file: its program was entered; else a Failure
  int entry = -1;     ///< end of file: the process has left the shim's memory
  int timer = -1;     ///< a timerfd that runs from the claim on
};

/// A start, in the memory that the shim and the agent's process share until its program is entered.
/// That process does it all, down to the claim: woken by the daemon's byte it need not wake anybody
/// first, and for a process with the memory of another one exec has nothing to take down. Which is
/// what vfork is for; but the shim sleeps where it can be told to leave, and is not counted as load
/// while a spare one waits for an hour. It must not touch this, nor errno or the heap, before
/// `stand_by` has returned.
struct Start {
  const char* run_id = nullptr;
  pid_t shim = 0;
  int out = -1;  ///< the writing ends of the agent's pipes
  int err = -1;
  int failures = -1;
  int entry = -1;
  int timer = -1;
  bool briefed = false;        ///< the first byte has come
  std::int64_t steady_ms = 0;  ///< when it was claimed; see supervise.h
  std::int64_t unix_ms = 0;
  std::atomic<bool> claimed = false;  ///< it is an attempt from here on
  std::optional<ShimExit> refused;    ///< why nothing was claimed; none: the process was ended
  Launch launch;                      ///< once `claimed`
  Stat agent;
  std::array<char, kPathBytes> cgroup_path{};  ///< "": none
};

/// Where the agent's process has its stack until its program is entered.
using Stack = std::array<std::byte, std::size_t{256} * 1024>;

/// Makes those logs that are not there yet, if they can be had.
void make_logs(Agent& agent);

/// False when a pipe or a process cannot be had; then nothing is left behind.
bool make_agent(Start& start, Stack& stack, Agent& agent);

/// Whether SIGTERM waits to be read.
bool told_to_leave();

/// Sleeps until the process has left this memory: its program was entered, or it has ended, be it
/// because this function has ended it: SIGTERM came (`signals` is a signalfd, in which that is
/// left), or a limit was over; then it returns the cause, and nullptr otherwise. Only one that was
/// claimed and cannot even be killed may still be there. Whoever stops the process does not stop
/// the start.
const char* stand_by(int signals, const Start& start, const Agent& agent);

/// Forgets a process that has ended and did not claim. The logs stay open, for another one.
void abandon(Agent& agent);

}  // namespace baton::shim
