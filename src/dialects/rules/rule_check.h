// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds rules that go round in circles: stages that `set` reactions repeat by themselves, and
// stages that agents may repeat.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "dialects/rules/layout.h"

namespace baton::rules {

/// What the member sets the stage to, if the member is the stage or contains it. The word is empty
/// if the stage would get no word or an unknown one.
struct StageWrite {
  Word word;
  bool other = false;  ///< the stage of another subject than the reacting one
};
std::optional<StageWrite> stage_write(const Rule& rule, const Member& member);

/// Cycles of `set` reactions, as `a -> b -> a` with the numbers of the reactions. The search
/// ignores conditions, because nothing else moves the subject. It leaves out reactions with an
/// approval, because they do not repeat by themselves.
std::vector<std::string> set_cycles(const Rule& rule);

/// The longest chain of `set` reactions, if it has more steps than baton makes at once (8); else
/// empty. Call it only without set_cycles.
std::string long_chain(const Rule& rule);

/// Cycles of agents, each by its shortest way. An agent may leave the subject in any stage of
/// `next`; without `next`, in any stage that a reaction is about.
std::vector<std::string> run_cycles(const Rule& rule);

// Checks the pointers and words of a rule against the schemas of its documents.

/// Why a pointer cannot be right: the schema lists the members, and this one is not among them.
/// Empty if the pointer may be right.
std::string pointer_fault(const Value& schema, std::string_view pointer);

/// The words that the `enum` of the schema allows at the pointer. Empty: any word may be right.
std::vector<Word> words_at(const Value& schema, std::string_view pointer);

/// All stages that the rule names: `stages`, `done`, `to`, `from`, `next`, and what it sets itself.
/// Each once.
std::vector<Word> known_stages(const Rule& rule);

/// Whether the rule has a list of stages and the stage is in none of its words. `known` has
/// known_stages of the rule.
bool is_unknown_stage(const Rule& rule, const std::vector<Word>& known, const Word& stage);

/// The known stage that a mistyped one was probably meant to be. Empty if none is close.
std::optional<Word> meant_stage(const std::vector<Word>& known, const Word& stage);

/// Every place in a rule, with a text for where: `stage`, `when of react 2`.
struct NamedPlace {
  std::string where;
  Place place;
  bool over_all = false;  ///< of a test over all subjects or parts
};
std::vector<NamedPlace> places_of(const Rule& rule);

/// The faults of all pointers of a rule, and of words that a schema with an `enum` does not allow.
/// `schema_of` gives the schema of a kind, or nullptr.
std::vector<std::string> place_faults(
    const Rule& rule, const std::function<const Value*(const Kind& kind)>& schema_of);

}  // namespace baton::rules
