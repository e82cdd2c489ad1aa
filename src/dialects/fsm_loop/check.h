// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "core/dialect.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

/// Follows what baton does not carry out (S8, S31).
inline constexpr std::string_view kRefusedStart =
    "; `baton start` refuses this loop unless you give --ignore-unsupported";

// The rules of the format page that no schema can state (S1 to S45), one function for each part of
// a document. S15 and S16 are in shell_access.h. The document must have passed its schema.

/// The rules of one definition.
Findings check_definition(const Document& document);

/// What the configuration does not give to a definition (S15, S16). baton accepts the definition
/// and refuses its start.
Findings check_access(const Document& document, const Json& options);

/// A definition put together from several files, with its findings. `sources` are the files, the
/// most important one first. Pointers belong to `root`, so a single file may not have them.
struct Judged {
  Definition definition;
  Findings findings;
};
Judged judge_definition(const Value& root, const std::vector<const Document*>& sources);
/// `stem`: the name of the loop in the file name; may be empty.
Findings check_state(const Value& root, const std::string& stem);
Findings check_events(const Value& lines);
Findings check_lock(const Value& root, const std::string& stem);

/// The rules of one state: its targets, evaluator, keys that belong together, guards, placeholders.
/// The caller checks that the targets exist.
void check_state_body(const Value& root, const State& state, FindingList& findings);

/// Warns about `${captured.x}` and `${prev.x}` that may have no value (S26).
void check_captured(const Definition& definition, std::size_t index, const Graph& graph,
                    FindingList& findings);

/// Whether the action is a shell command.
bool is_shell_action(const Value& body);

/// Checks the texts of a state: placeholders that never have a value (S9), values without quotes in
/// a shell command (S27), a program that would go to an agent (S25).
void check_texts(const Value& root, const State& state, FindingList& findings);

/// The rules of one `evaluate` block: its type and what the type needs.
void check_evaluate(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// Whether the evaluator can return this verdict, so that `on_<verdict>` is no typing error.
/// `evaluate` may be nullptr.
bool is_declared_verdict(const Value* evaluate, std::string_view verdict);

/// Checks the keys of a definition: unknown keys (S22), keys without effect (S30), guards that
/// baton would not enforce (S8). A test compares this table with that of the format page.
void check_top_keys(const Value& root, FindingList& findings);
/// `body` is the resolved state. `pointer` may be that of the member that the state was made from.
void check_state_keys(const Value& body, const std::string& pointer, FindingList& findings);
void check_evaluate_keys(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// The generation of a definition: v1, unless the definition uses a key, an evaluator or a verdict
/// that only later versions of the original know.
Generation generation_of(const Value& root, const std::vector<State>& states);

}  // namespace baton::fsm_loop
