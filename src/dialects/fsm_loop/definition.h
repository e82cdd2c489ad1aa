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

/// One state with the skeleton of `flow` and its fragment worked in.
struct State {
  std::string name;
  std::string pointer;  ///< of what it was made from, in the file as it stands
  Json body;
  bool open = false;  ///< builds on another file: more may come from there
  Json param;         ///< what its fragment is given, by name; null without a fragment
  bool terminal() const { return json::boolean(*body, "terminal").value_or(false); }
};

/// A way out of a state that the file spells out.
struct Reference {
  std::string pointer;
  std::string key;     ///< `on_failure`, `next`, or the verdict of a route
  std::string target;  ///< as written: a name, `$current`, or a text with `${...}`
};

/// A definition that was resolved as far as one file goes.
struct Definition {
  Json root;  ///< as given; of a short form the long one
  Generation generation = Generation::v1;
  std::vector<State> states;
  std::map<std::string, std::size_t, std::less<>> index;  ///< by name, into `states`
  bool open = false;                                      ///< `from`: more may come from the parent
  bool shortcut = false;  ///< one of the four short forms: the states are compiled
  const State* state(std::string_view name) const;
};

/// Works `flow`, `state_defs`, short forms and the file's own `fragments` in; reports
/// what does not fit there (rules S10, S11).
Definition resolve(const Value& root, FindingList& findings);

/// A file whose fragments other definitions use, and that is no loop itself.
bool only_fragments(const Value& root);

/// The definition with nothing left to be worked in: every state with its whole body, and in
/// `generation` the one it was recognised as.
Json long_form(const Definition& definition);

/// `over` on top of `under`: maps are merged, everything else is replaced.
Json merged(const Value& under, const Value& over);

/// All targets of a state, `route` included, in the order of the file.
std::vector<Reference> references(const State& state);

/// Whether a key such as `on_partial` leads on by verdict; `on_maintain` and its like do not.
bool is_verdict_key(std::string_view key);

/// One state of a short form.
struct CompiledState {
  std::string name;
  std::string pointer;  ///< of what it was made from, in the file as it stands
  Json body;
};

/// A short form as a definition with `initial`; its states stand apart.
struct ShortForm {
  Json root;
  std::vector<CompiledState> states;
};

/// `paradigm` without `initial` asks for a loop of a known form.
bool is_short_form(const Value& root);

/// Compiles goal, convergence, invariants or imperative; expects what the schema accepts. What the
/// form does not use (scope, llm, limits, context ...) is kept.
ShortForm compiled(const Value& root);

/// The ways between the states of a definition, which outlives it. Unknown targets are left out; a
/// target that is computed at run time may be any state.
class Graph {
 public:
  Graph(const Definition& definition, const Value& root);

  /// By the index of the state: whether it can be entered, from the initial one or from what a
  /// limit leads to.
  std::vector<bool> reachable() const;

  /// What every way into a state has kept (`capture`) before its action runs.
  struct Kept {
    const State* state = nullptr;
    std::set<std::string> names;
  };
  /// For each reachable state. A sub-loop may keep anything, so behind it nothing is missing. Of
  /// more than 128 states nothing is said: the answer would cost more than it is worth.
  std::vector<Kept> captured_before() const;

 private:
  const Definition& definition_;
  std::vector<std::size_t> starts_;
  std::vector<std::vector<std::size_t>> ways_;
  std::vector<bool> anywhere_;  ///< has a computed target
};

}  // namespace baton::fsm_loop
