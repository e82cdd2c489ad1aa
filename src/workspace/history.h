#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/journal/reader.h"
#include "workspace/context.h"

namespace baton {

/// The journal of one root.
struct History {
  std::string root;
  std::unique_ptr<JournalReader> journal;
  bool served = false;  ///< a daemon records how runs end

  /// As the reader has them; the end of one that nobody has recorded is read where its shim left
  /// it. Errors as there.
  Result<std::vector<Run>> runs(const RunQuery& query) const;
  Result<Run> run(const std::string& id_prefix) const;
};

/// The journals of all roots of the context that a daemon has served; there may be none yet. Of
/// several roots one that cannot be seen is left out with a warning.
Result<std::vector<History>> histories_of(const Context& context);

/// Leaves only the history of the flow somebody means, among those the journals know, and says
/// which flow that is. Errc::usage with the list.
Result<FlowId> choose_history(std::vector<History>& histories, const std::string& name);

}  // namespace baton
