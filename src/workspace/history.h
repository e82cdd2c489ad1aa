// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the journals of roots for commands that list runs and events. Works with and without a
// daemon, and writes nothing.

#include <memory>
#include <optional>
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
  bool served = false;  ///< a daemon runs and records how runs end

  /// The runs of the journal. Without a daemon, a run whose end is not in the journal gets the end
  /// that its shim has written down. Errors as for JournalReader.
  Result<std::vector<Run>> runs(const RunQuery& query) const;
  Result<Run> run(const std::string& id_prefix) const;
};

/// The journals of all roots of the context that a daemon has ever served. If there are several
/// roots, one whose state this user cannot read causes a warning and is left out.
Result<std::vector<History>> histories_of(const Context& context);

/// Since when a live run has written nothing, if that is for a minute or longer. Its output changes
/// all the time otherwise, and would be no news.
std::optional<Time> silent_since(const Run& run, Time now);

/// Finds the flow that a name means among the flows of all journals, and drops the other histories.
/// Errc::usage, with the list of flows.
Result<FlowId> choose_history(std::vector<History>& histories, const std::string& name);

}  // namespace baton
