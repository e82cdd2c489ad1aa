#pragma once

#include <cstddef>
#include <functional>
#include <map>
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

}  // namespace baton::fsm_loop
