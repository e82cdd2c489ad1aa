#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

/// Says of every key of a definition what baton makes of it: keys nobody knows, keys that have no
/// effect, guards that would not hold (rules S8, S22, S30). The table of the format page is this
/// table.
void check_top_keys(const Value& root, FindingList& findings);
/// `body` is the state as resolved; its pointer may be that of the state it was made from.
void check_state_keys(const Value& body, const std::string& pointer, FindingList& findings);
void check_evaluate_keys(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// The generation that the keys, evaluators and verdicts of a definition belong to: the first one,
/// unless something is used that only later ones know.
Generation generation_of(const Value& root, const std::vector<State>& states);

}  // namespace baton::fsm_loop
