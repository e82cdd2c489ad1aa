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

/// Definitions and files of fragments by path relative to the root. nullptr: looked for and not
/// there, so that `wanted` does not ask for it again.
using Library = std::map<std::string, std::shared_ptr<const Document>, std::less<>>;

/// What of a flow's documents may be a part of a definition: kinds `definition`, `read` and
/// `related`.
Library library_of(const FlowState& docs);

/// Where the loop `name` is looked for, in this order, seen from a file in `folder`: as a path when
/// it ends in .yaml or .yml, else NAME.fsm.yaml, then NAME.yaml. Paths relative to the root; none
/// for a name that leads out of it.
std::vector<std::string> places_of(std::string_view folder, std::string_view name);

/// The paths that have to be looked for before `path` can be loaded, and are not yet in the
/// library: what it builds on (`from`, `import`) and runs (`loop`), through all depths known so
/// far. Ask again when they were read, until there is nothing more.
std::vector<std::string> wanted(const std::string& path, const Library& library);

/// A definition that was put together from all its files.
struct Loaded {
  /// The long form: no `from`, `import`, `flow`, `fragments` and short form left; every state with
  /// its body. It can be kept as it is and read by `loop_of` later. Nothing when there is an error.
  std::optional<Json> definition;
  /// By the file that they are in, each with its place there; warnings too.
  std::map<std::string, Findings> findings;
  /// The first error in one line: `.loops/x.yaml:4:7: ...`; empty when there is none.
  std::string error;
};

/// Puts the definition in `path` together and judges it by all rules of the format page, those that
/// need other files too. The sub-loops it runs must be there and get what they require; they
/// themselves are judged when they are loaded.
Loaded load(const std::string& path, const Library& library);

/// For `Dialect::related`: what the flow's definitions name and is not among the documents yet.
std::vector<std::string> related(const FlowState& docs);

/// What is wrong with definitions of several files and does not show in one of them alone. Nothing
/// is said as long as a file has not been looked for.
std::map<std::string, Findings> check_whole(const FlowState& docs);

}  // namespace baton::fsm_loop
