#pragma once

#include "dialects/rules/memo.h"
#include "dialects/rules/scene.h"

namespace baton::rules {

inline constexpr std::string_view kDecisions = "approve, approved, reject, rejected, true or false";
/// The decision in a file: `approve`, `approved` or true; `reject`, `rejected` or false.
std::optional<Word> decision_of(const Value& value);

/// Takes decisions of people, from requests and files. Adds them to the memo, and replies and moves
/// of used files to the decision.
void hear_people(const View& view, const Scene& scene, Memo& memo, Decision& decision);

/// The hold of a reaction that waits for approval or was rejected; nothing when it may go on.
std::optional<Hold> approval_hold(const View& view, const Scene& scene, const Memo& memo,
                                  const Reaction& reaction, const Subject& subject);

}  // namespace baton::rules
