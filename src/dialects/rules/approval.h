#pragma once

#include "dialects/rules/memo.h"
#include "dialects/rules/scene.h"

namespace baton::rules {

inline constexpr std::string_view kDecisions = "approve, approved, reject, rejected, true or false";
/// What a decision file says: `approve`, `approved` or true; `reject`, `rejected` or false.
std::optional<Word> decision_of(const Value& value);

/// Lets people decide, by request or by file, what waits for them; what they say goes into the
/// memo, replies and the moves of files that are spent into the decision.
void hear_people(const View& view, const Scene& scene, Memo& memo, Decision& decision);

/// What a reaction with an approval waits for, or that it was rejected; nothing when it may go on.
std::optional<Hold> approval_hold(const View& view, const Scene& scene, const Memo& memo,
                                  const Reaction& reaction, const Subject& subject);

}  // namespace baton::rules
