// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches an agent until its whole process tree is empty, enforces the limits, and ends what is
// left. Also runs the program of `notify:` (`run_notify_program`).

#include <optional>

#include "shim/agent.h"
#include "shim/launch.h"
#include "shim/protocol.h"
#include "shim/record.h"
#include "shim/tree.h"

namespace baton::shim {

/// The phase of a run, and what ends each phase:
///
///   running      agent ended, nothing left  -> done
///                agent ended, others left   -> terminating (TERM to the tree)
///                SIGTERM, limits            -> terminating (TERM to the tree)
///   terminating  tree empty                 -> done
///                grace over                 -> killing (KILL to the tree, again and again)
///   killing      tree empty                 -> done
///                patience over              -> done, survivors are reported. If /proc cannot
///                                              be read, they are unknown: no record is written
enum class Phase { running, terminating, killing, done };

/// How long killed processes may take to vanish before they are reported as survivors.
constexpr std::int64_t kKillPatienceMs = 10'000;

/// Supervises a claimed agent until its tree is empty. `signals` is a signalfd for SIGTERM and
/// SIGCHLD; `cause` comes from `stand_by`. Nothing: /proc could not be read, so another process
/// must end what is left.
std::optional<ExitRecord> supervise(int signals, const Start& start, const Agent& agent,
                                    const Tree& tree, const char* cause);

/// Ends a tree without a shim: TERM, grace, KILL. Fills in leftovers and survivors. False: /proc
/// could not be read, so the survivors are unknown.
bool sweep(const Tree& tree, std::uint64_t grace_ms, ExitRecord& exit);

std::int64_t unix_ms();
std::int64_t steady_ms();

/// Runs a program with our stdin, stdout and stderr, until its tree is empty, the limit is over,
/// SIGTERM came, or the other end of kLifeFd was closed because the daemon is gone. Then ends what
/// is left. `signals` is a signalfd for SIGTERM and SIGCHLD.
ShimExit run_notify_program(int signals, const char* limit_ms, char** argv);

}  // namespace baton::shim
