#pragma once

#include <optional>

#include "shim/agent.h"
#include "shim/launch.h"
#include "shim/record.h"
#include "shim/tree.h"

namespace baton::shim {

/// Where a run stands. Each state is left by what stands in its row:
///
///   running      agent ended, nothing left  -> done
///                agent ended, others left   -> terminating (TERM to the tree)
///                SIGTERM, limits            -> terminating (TERM to the tree)
///   terminating  tree empty                 -> done
///                grace over                 -> killing (KILL to the tree, again and again)
///   killing      tree empty                 -> done
///                patience over              -> done, survivors are reported; without a record
///                                              where nobody can say who they are
enum class Phase { running, terminating, killing, done };

/// How long killed processes may take to vanish before they are given up and reported.
constexpr std::int64_t kKillPatienceMs = 10'000;

/// Watches over an agent that was claimed until its tree is empty. `signals` is a signalfd for
/// SIGTERM and SIGCHLD; `cause` is that of `stand_by`. Nothing: /proc could not be read, so that
/// what is left has to be ended by another process.
std::optional<ExitRecord> supervise(int signals, const Start& start, const Agent& agent,
                                    const Tree& tree, const char* cause);

/// Ends a tree without a shim: TERM, grace, KILL. Fills in leftovers and survivors. False: /proc
/// could not be read, so that nobody can say who is left.
bool sweep(const Tree& tree, std::uint64_t grace_ms, ExitRecord& exit);

std::int64_t unix_ms();
std::int64_t steady_ms();

}  // namespace baton::shim
