#pragma once

#include <set>
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

/// The rules of one document that no schema can state; the list is on the format page. Each
/// expects a document that its schema accepts.
Findings check_definition(const Document& document);

/// A definition that was put together from several files, with what is wrong with it. `sources`:
/// the files, the one that counts most first. Pointers are of `root` and of what was made from it,
/// so they need not lead to anything in a file.
struct Judged {
  Definition definition;
  Findings findings;
};
Judged judge_definition(const Value& root, const std::vector<const Document*>& sources);
/// `stem`: what the file's name says, empty where the name does not fit the kind's pattern.
Findings check_state(const Value& root, const std::string& stem);
Findings check_events(const Value& lines);
Findings check_lock(const Value& root);

/// The rules of one state by itself: ways on, evaluator, keys that go together, guards,
/// placeholders. Targets are looked up by the caller.
void check_state_body(const Value& root, const State& state, FindingList& findings);

/// Warns of `${captured.x}` and `${prev.x}` that may be empty-handed (rule S26). `kept`: what every
/// way into the state has kept.
void check_captured(const State& state, const std::set<std::string>& kept, bool initial,
                    FindingList& findings);

/// Whether the action is a command for the shell.
bool is_shell_action(const Value& body);

/// The rules of the texts of a state that are filled in: placeholders that cannot be (S9), values
/// that a shell would take apart (S27), an action that is taken for an agent's (S25).
void check_texts(const Value& root, const State& state, FindingList& findings);

/// The rules of one `evaluate` block: its type, and what that type needs.
void check_evaluate(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// Whether the evaluator itself can give the verdict, so that `on_<verdict>` is meant as it is
/// written. `evaluate` may be nullptr.
bool is_declared_verdict(const Value* evaluate, std::string_view verdict);

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
