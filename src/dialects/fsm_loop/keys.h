#pragma once

#include <string>

#include "base/json.h"
#include "dialects/findings.h"

namespace baton::fsm_loop {

/// Says of every key of a definition what baton makes of it: keys nobody knows, keys that have no
/// effect, guards that would not hold (rules S8, S22, S30). The table of the format page is this
/// table.
void check_top_keys(const Value& root, FindingList& findings);
/// `body` is the state as resolved; its pointer may be that of the state it was made from.
void check_state_keys(const Value& body, const std::string& pointer, FindingList& findings);
void check_evaluate_keys(const Value& evaluate, const std::string& pointer, FindingList& findings);

}  // namespace baton::fsm_loop
