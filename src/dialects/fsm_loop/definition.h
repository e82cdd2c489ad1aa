#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "core/dialect.h"
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

/// The names that a state captures, as far as its own text says.
std::vector<std::string_view> captures_of(const State& state);

/// The edges between the states of a definition, which must outlive it. Unknown targets are left
/// out. A target that is computed at run time may be any state.
class Graph {
 public:
  Graph(const Definition& definition, const Value& root);

  /// By state: whether it can be entered from the initial state or the state of a limit. With a
  /// name: on a way where no state before it captures that name.
  std::vector<bool> reachable(std::string_view uncaptured = {}) const;

 private:
  const Definition& definition_;
  std::vector<std::size_t> starts_;
  std::vector<std::vector<std::size_t>> ways_;
  std::vector<bool> anywhere_;  ///< the state has a computed target
};

// Puts a definition together from several files: `from` (a parent), `import` (fragments) and `loop`
// (sub-loops). It does no I/O: `wanted` names the files to read, the caller reads them, `load` uses
// them.

/// Definitions and files with fragments, by path relative to the root. nullptr: the file does not
/// exist, so `wanted` does not name it again.
using Library = std::map<std::string, std::shared_ptr<const Document>, std::less<>>;

/// The documents of a flow that may be part of a definition: kinds `definition`, `read` and
/// `related`.
Library library_of(const FlowState& docs);

/// The paths where the loop `name` may be, in this order, for a file in `folder`: a name that ends
/// in .yaml or .yml is a path; else NAME.fsm.yaml, then NAME.yaml. Relative to the root; none for a
/// name that leads out of it.
std::vector<std::string> candidate_paths(std::string_view folder, std::string_view name);

/// The file of a name, as far as the library knows.
struct Place {
  std::string path;                  ///< empty: none
  std::vector<std::string> unknown;  ///< paths that have to be read first
};
Place place_of(std::string_view folder, std::string_view name, const Library& library);

/// The files that `path` needs and the library does not have yet: parents, imports and sub-loops,
/// at every depth that is known so far. Read them and ask again, until there are none.
std::vector<std::string> wanted(const std::string& path, const Library& library);

/// A definition, put together from all its files.
struct Loaded {
  /// Without `from`, `import`, `flow`, `fragments` and short forms; every state has its whole body.
  /// It can be stored and read by `loop_of` later. Nothing after an error.
  std::optional<Json> definition;
  /// By file, with positions in that file. Warnings too.
  std::map<std::string, Findings> findings;
  /// The first error in one line: `.loops/x.yaml:4:7: ...`. Empty: none.
  std::string error;
};

/// Puts the definition in `path` together and checks it by all rules. Its sub-loops must exist and
/// get their required parameters; they are checked themselves when they are loaded.
Loaded load(const std::string& path, const Library& library);

/// For `Dialect::related`: files that the flow's definitions name and that are not read yet.
std::vector<std::string> related(const FlowState& docs);

/// Findings that only show when several files are put together. Empty as long as a file has not
/// been read.
std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options);

}  // namespace baton::fsm_loop
