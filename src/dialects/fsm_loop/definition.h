#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

// Resolves a definition file: short forms, `flow`, `state_defs` and fragments become plain states.
// What comes from other files (`from`, `import`) is library.h's.

/// One state, merged with its entry in `flow` and its fragment.
struct State {
  std::string name;
  std::string pointer;  ///< of its source in the file
  Json body;
  bool open = false;  ///< more may come from another file
  Json param;         ///< the parameters of its fragment by name; null: no fragment
  bool terminal() const { return json::boolean(*body, "terminal").value_or(false); }
};

/// A target that the file spells out.
struct Reference {
  std::string pointer;
  std::string key;     ///< `on_failure`, `next`, or the verdict of a route
  std::string target;  ///< as written: a name, `$current`, or a text with `${...}`
};

/// A definition, resolved as far as one file allows.
struct Definition {
  Json root;  ///< as given; for a short form the long form
  Generation generation = Generation::v1;
  std::vector<State> states;
  std::map<std::string, std::size_t, std::less<>> index;  ///< name to place in `states`
  bool open = false;      ///< more may come from the parent (`from`)
  bool shortcut = false;  ///< a short form: the states are compiled
  const State* state(std::string_view name) const;
};

/// Resolves `flow`, `state_defs`, short forms and the file's own fragments. Reports what does not
/// fit (S10, S11).
Definition resolve(const Value& root, FindingList& findings);

/// The file only has fragments for other definitions and is no loop itself.
bool only_fragments(const Value& root);

/// The definition with nothing left to resolve: every state with its whole body, and `generation`.
Json long_form(const Definition& definition);

/// `over` on top of `under`: maps are merged, everything else is replaced.
Json merged(const Value& under, const Value& over);

/// All targets of a state, with those in `route`, in the order of the file.
std::vector<Reference> references(const State& state);

/// Whether a key such as `on_partial` stands for a verdict; `on_maintain` and the like do not.
bool is_verdict_key(std::string_view key);

/// One state of a short form.
struct CompiledState {
  std::string name;
  std::string pointer;  ///< of its source in the file
  Json body;
};

/// A short form as a definition with `initial`; its states are separate.
struct ShortForm {
  Json root;
  std::vector<CompiledState> states;
};

/// `paradigm` without `initial` is a short form.
bool is_short_form(const Value& root);

/// Compiles goal, convergence, invariants or imperative. Expects what the schema accepts. Keys that
/// the form does not use (scope, llm, limits, context ...) stay.
ShortForm compiled(const Value& root);

/// The edges between the states of a definition, which must outlive it. Unknown targets are left
/// out. A target that is computed at run time may be any state.
class Graph {
 public:
  Graph(const Definition& definition, const Value& root);

  /// By state: whether it can be entered from the initial state or the state of a limit.
  std::vector<bool> reachable() const;

  /// The captures that every way into a state has made before its action runs.
  struct CapturedBefore {
    const State* state = nullptr;
    std::set<std::string> names;
  };
  /// For each reachable state. A sub-loop may capture anything, so nothing is missing after it.
  /// Empty for more than 128 states, because the answer would take too long.
  std::vector<CapturedBefore> captured_before() const;

 private:
  const Definition& definition_;
  std::vector<std::size_t> starts_;
  std::vector<std::vector<std::size_t>> ways_;
  std::vector<bool> anywhere_;  ///< the state has a computed target
};

}  // namespace baton::fsm_loop
