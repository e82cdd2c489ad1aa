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

// The rules of the format page that no schema can state (S1 to S45), one function per part of a
// document. Each expects a document that its schema accepts.

/// The rules of one definition.
Findings check_definition(const Document& document);

/// A definition put together from several files, with its findings. `sources`: the files, the most
/// important one first. Pointers belong to `root`, so a file need not have them.
struct Judged {
  Definition definition;
  Findings findings;
};
Judged judge_definition(const Value& root, const std::vector<const Document*>& sources);
/// `stem`: the loop that the file name stands for; may be empty.
Findings check_state(const Value& root, const std::string& stem);
Findings check_events(const Value& lines);
Findings check_lock(const Value& root);

/// The rules of one state: ways out, evaluator, keys that belong together, guards, placeholders.
/// The caller looks up targets.
void check_state_body(const Value& root, const State& state, FindingList& findings);

/// Warns about `${captured.x}` and `${prev.x}` that may have no value (S26).
void check_captured(const Definition& definition, std::size_t index, const Graph& graph,
                    FindingList& findings);

/// Whether the action is a shell command.
bool is_shell_action(const Value& body);

/// The texts of a state: placeholders that never have a value (S9), values without quotes in a
/// shell command (S27), a program that would go to an agent (S25).
void check_texts(const Value& root, const State& state, FindingList& findings);

/// The rules of one `evaluate` block: its type and what the type needs.
void check_evaluate(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// Whether the evaluator can return this verdict, so that `on_<verdict>` is meant as written.
/// `evaluate` may be nullptr.
bool is_declared_verdict(const Value* evaluate, std::string_view verdict);

/// What baton does with each key of a definition: unknown keys (S22), keys without effect (S30),
/// guards that baton would not enforce (S8). The table of the format page is tested against this
/// one.
void check_top_keys(const Value& root, FindingList& findings);
/// `body` is the resolved state; `pointer` may be that of the state it was made from.
void check_state_keys(const Value& body, const std::string& pointer, FindingList& findings);
void check_evaluate_keys(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// The generation of a definition: the first one, unless a key, an evaluator or a verdict is used
/// that only later ones know.
Generation generation_of(const Value& root, const std::vector<State>& states);

}  // namespace baton::fsm_loop
