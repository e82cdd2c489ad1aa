#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/state/flow_record.h"

// Files that another configuration gives to another flow, as where a rule was renamed or split.
//
// What was accepted of such a file goes to the record of its new flow, so that the version that
// stands there is not taken for news. The new flow is `moved`: it starts and sets nothing until a
// person resumes it, or until its stage changes. The mark is committed together with the files.
// A flow that has lost its last file is `left`: the engine forgets it when its last agent has
// ended.

namespace baton {

/// Hands over all such files. Errc::io when the journal cannot give what it holds.
Result<void> hand_over(const FlowRecords& records, const Catalog& catalog, DocumentStore& documents,
                       Schemas& schemas, const LoadLimits& limits, Draft& draft);

/// An agent that was started for one flow and works on a file that another one has now.
struct AgentElsewhere {
  RunId run;
  FlowId former;
  FlowId now;
  std::string path;
};
std::vector<AgentElsewhere> agents_elsewhere(const FlowRecords& records, const Catalog& catalog);

/// The stage of a flow has changed: whether that ends its hold. With several subjects it does not,
/// for the others stand where they stood. Neither does a version whose writer has not seen what
/// baton wrote last, for the stage baton wrote has never stood in the file.
bool stage_change_resumes(const FlowRecord& record, const Draft& draft);

}  // namespace baton
