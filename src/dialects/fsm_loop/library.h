#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "core/dialect.h"

namespace baton::fsm_loop {

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
