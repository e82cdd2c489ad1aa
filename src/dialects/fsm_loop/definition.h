// SPDX-License-Identifier: Apache-2.0
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
// The second half of this header deals with definitions in several files (`from`, `import`).

/// One state, merged with its entry in `flow` and its fragment.
struct State {
  std::string name;
  std::string pointer;  ///< of its source in the file
  Json body;
  bool open = false;  ///< another file may add more
  Json param;         ///< the parameters of its fragment by name; null: no fragment
  bool terminal() const { return json::boolean(*body, "terminal").value_or(false); }
};

/// A target that the file spells out.
struct Reference {
  std::string pointer;
  std::string key;     ///< `on_failure`, `next`, or the verdict of a route
  std::string target;  ///< as written: a name, `$current`, or a text with `${...}`
};

/// A definition, resolved as far as its own file allows.
struct Definition {
  Json root;  ///< as given; for a short form: the long form
  Generation generation = Generation::v1;
  std::vector<State> states;
  std::map<std::string, std::size_t, std::less<>> index;  ///< name to index in `states`
  bool open = false;                                      ///< the parent (`from`) may add more
  bool shortcut = false;                                  ///< a short form: the states are compiled
  const State* state(std::string_view name) const;
};

/// Resolves `flow`, `state_defs`, short forms and the file's own fragments. Reports mistakes in
/// them (S10, S11).
Definition resolve(const Value& root, FindingList& findings);

/// Whether the file only has fragments for other definitions and is no loop itself.
bool only_fragments(const Value& root);

/// The definition with nothing left to resolve: every state with its whole body, and `generation`.
Json long_form(const Definition& definition);

/// `over` on top of `under`. Maps are merged; any other value of `over` replaces that of `under`.
Json merged(const Value& under, const Value& over);

/// The member `circuit.repeated_failure`; nullptr: there is none.
const Value* repeated_failure_in(const Value& root);

/// All targets of a state, including those in `route`, in the order of the file.
std::vector<Reference> references(const State& state);

/// Whether a key such as `on_partial` stands for a verdict; `on_maintain` and the like do not.
bool is_verdict_key(std::string_view key);

/// One state of a short form.
struct CompiledState {
  std::string name;
  std::string pointer;  ///< of its source in the file
  Json body;
};

/// A short form as a definition with `initial`. The states are separate.
struct ShortForm {
  Json root;
  std::vector<CompiledState> states;
};

/// Whether the definition is a short form: it has a `paradigm` but no `initial`.
bool is_short_form(const Value& root);

/// Compiles a short form: goal, convergence, invariants or imperative. The document must have
/// passed its schema. Keys that the form does not use (scope, llm, limits, context ...) stay.
ShortForm compiled(const Value& root);

/// The names that a state captures, as far as its own text shows.
std::vector<std::string_view> captures_of(const State& state);

/// The edges between the states of a definition, which must outlive the graph. Leaves out unknown
/// targets. A target that is computed at run time may be any state.
class Graph {
 public:
  Graph(const Definition& definition, const Value& root);

  /// For each state: whether the loop can reach it from the initial state or from the state of a
  /// limit or guard. With `uncaptured`, only ways count on which no earlier state captures that
  /// name.
  std::vector<bool> reachable(std::string_view uncaptured = {}) const;

 private:
  const Definition& definition_;
  std::optional<std::size_t> start_;
  std::optional<std::size_t> guard_;  ///< where `circuit` leads
  std::vector<std::vector<std::size_t>> ways_;
  std::vector<bool> anywhere_;  ///< the state has a computed target
};

// Puts a definition together from several files: `from` (a parent), `import` (fragments) and `loop`
// (sub-loops). It does no I/O: `wanted` names the files, the caller reads them, and `load` uses
// them.

/// The files that definitions may be made of.
struct Library {
  /// Definitions and files with fragments, by path relative to the root, or by absolute path below
  /// one of the folders. nullptr: the file does not exist, and `wanted` does not ask for it again.
  std::map<std::string, std::shared_ptr<const Document>, std::less<>> files;
  /// The option `library`: absolute paths of folders in which names are looked for, too.
  std::vector<std::string> folders;

  /// nullptr: it does not exist, or is not known.
  const Document* file(std::string_view path) const;
};

/// The documents of a flow that may be part of a definition: kinds `definition`, `read` and
/// `related`.
Library library_of(const FlowState& docs, const Json& options);

/// The paths where the loop `name` may be, best first, for a file in `folder`: there, and then in
/// the other folders of the library. A name that ends in .yaml or .yml is a path. Other names give
/// NAME.fsm.yaml, then NAME.yaml. There is none if the name leads out of the root and these
/// folders.
std::vector<std::string> candidate_paths(std::string_view folder, std::string_view name,
                                         const Library& library);

/// The file of a name, as far as the library shows.
struct Place {
  std::string path;                  ///< empty: none
  std::vector<std::string> unknown;  ///< paths that the caller must read first
};
Place place_of(std::string_view folder, std::string_view name, const Library& library);

/// The files that `path` needs and the library does not have yet: parents, imports and sub-loops,
/// at every depth that is known so far. Read them and call this again until it returns none.
std::vector<std::string> wanted(const std::string& path, const Library& library);

/// What is wrong with a value for a parameter of a loop or a fragment: `parameters` of `owner` does
/// not have it, or it is a literal of another type. Empty: nothing.
std::string binding_fault(const Value& owner, std::string_view key, const Value& value);

/// A definition, put together from all its files.
struct Loaded {
  /// Without `from`, `import`, `flow`, `fragments` and short forms. Every state has its whole body.
  /// `loop_of` can read it, also after it was stored. Empty after an error.
  std::optional<Json> definition;
  /// By file, with positions in that file; includes warnings.
  std::map<std::string, Findings> findings;
  /// The first error in one line: `.loops/x.yaml:4:7: ...`. Empty if there is none.
  std::string error;
  /// The first finding about something that baton does not carry out (S8, S31), or about a value
  /// that the loop inside a state lacks (S37), in the same way.
  std::string unsupported;
};

/// Puts the definition in `path` together and checks it by all rules. Its sub-loops must exist and
/// get their required parameters, and be fit to run themselves.
Loaded load(const std::string& path, const Library& library);

/// For `Dialect::related`: the files that the flow's definitions name and the library does not have
/// yet.
std::vector<std::string> related(const FlowState& docs, const Json& options);

/// The findings that only show when several files are put together. Skips a definition while one of
/// its files is not read yet.
std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options);

}  // namespace baton::fsm_loop
