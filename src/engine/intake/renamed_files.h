// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that have another name than before. What limits a flow goes along with its file.
//
// A rename is known by the identity of the file: another name had it before. So it is found after a
// restart, too. Whether the former name is still there (a hard link) makes no difference: it may go
// a moment later, when the new name has started something. A rename that was seen while it happened
// is known even if the file was replaced right before.

#include <map>
#include <set>
#include <string>

#include "core/catalog.h"
#include "engine/state/flow_index.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The renames that were seen, until the step with the new name is committed: the new name and all
/// names that the file had before.
class SeenRenames {
 public:
  void add(const std::string& from, const std::string& to);
  /// Forgets names that no flow has: temporary files of writers.
  void keep_known(const Catalog& catalog);
  void committed(const std::set<std::string>& accepted);
  const std::map<std::string, std::set<std::string>>& all() const { return former_; }

 private:
  std::map<std::string, std::set<std::string>> former_;
};

/// Lets the flows of this step's renamed files take along what their former flows have used. Call
/// it when all files of the step have been looked at.
void take_along(const Catalog& catalog, const FlowIndex& flow_index, const SeenRenames& seen,
                Draft& draft);

/// Lets one flow take along what the other one has used.
void take_along(const Catalog& catalog, const FlowId& from, const FlowId& to, Draft& draft);

}  // namespace baton
