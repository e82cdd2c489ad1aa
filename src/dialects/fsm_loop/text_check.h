#pragma once

#include "base/json/json.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

/// The rules of the texts of a state that are filled in: placeholders that cannot be (S9), values
/// that a shell would take apart (S27), an action that is taken for an agent's (S25).
void check_texts(const Value& root, const State& state, FindingList& findings);

}  // namespace baton::fsm_loop
