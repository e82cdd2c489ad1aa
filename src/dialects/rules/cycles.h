#pragma once

#include <string>
#include <vector>

#include "dialects/rules/layout.h"

namespace baton::rules {

/// Whether a member is, or holds, the stage; then the word it is set to (empty: none).
struct StageWrite {
  Word word;
  bool other = false;  ///< of another subject than the one that reacts
};
std::optional<StageWrite> stage_write(const Rule& rule, const Member& member);

/// Stages that `set` reactions alone go round in, each as `a -> b -> a` with the numbers of the
/// reactions. Conditions are not looked at, for nothing else moves the subject; what a person has
/// to approve goes round by nobody's hand.
std::vector<std::string> set_cycles(const Rule& rule);

/// The longest way `set` reactions lead on by themselves, where it has more steps than baton makes
/// at once (8); empty when none has. There must be no set_cycles.
std::string long_chain(const Rule& rule);

/// Stages that agents can go round in: each group once, by its shortest way. An agent may leave its
/// subject in any stage its reaction's `next` names; without `next` in any that some reaction is
/// about.
std::vector<std::string> run_cycles(const Rule& rule);

}  // namespace baton::rules
