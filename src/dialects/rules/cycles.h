#pragma once

// Finds rules that go round in circles: stages that `set` reactions repeat by themselves, and
// stages that agents may repeat.

#include <string>
#include <vector>

#include "dialects/rules/layout.h"

namespace baton::rules {

/// Whether a member is or contains the stage; then the word it is set to (empty: none).
struct StageWrite {
  Word word;
  bool other = false;  ///< of another subject than the reacting one
};
std::optional<StageWrite> stage_write(const Rule& rule, const Member& member);

/// Cycles of `set` reactions, as `a -> b -> a` with the numbers of the reactions. Conditions are
/// ignored, since nothing else moves the subject. A cycle with an approval does not repeat by
/// itself.
std::vector<std::string> set_cycles(const Rule& rule);

/// The longest chain of `set` reactions, if it has more steps than baton makes at once (8); else
/// empty. Call it only without set_cycles.
std::string long_chain(const Rule& rule);

/// Cycles of agents, each by its shortest way. An agent may leave the subject in any stage of
/// `next`; without `next`, in any stage that a reaction is about.
std::vector<std::string> run_cycles(const Rule& rule);

}  // namespace baton::rules
