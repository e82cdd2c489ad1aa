#pragma once

#include <set>
#include <string>

#include "base/json/json.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

/// The rules of one state by itself: ways on, evaluator, keys that go together, guards,
/// placeholders. Targets are looked up by the caller.
void check_state_body(const Value& root, const State& state, FindingList& findings);

/// Warns of `${captured.x}` and `${prev.x}` that may be empty-handed (rule S26). `kept`: what every
/// way into the state has kept.
void check_captured(const State& state, const std::set<std::string>& kept, bool initial,
                    FindingList& findings);

/// Whether the action is a command for the shell.
bool is_shell_action(const Value& body);

}  // namespace baton::fsm_loop
