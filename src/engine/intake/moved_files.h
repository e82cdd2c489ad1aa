// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/state/flow_record.h"

// Files that belong to another flow since the configuration changed, for example because a rule was
// renamed or split.
//
// The accepted version of such a file goes to the record of its new flow, so baton does not take
// the file for news. The new flow is `moved`: it starts and sets nothing until a person resumes it,
// or until its stage changes. baton commits the mark together with the files. A flow that has lost
// its last file is `left`: the engine forgets it when its last agent has ended.

namespace baton {

/// Hands over all such files. Errc::io: the journal cannot be read.
Result<void> hand_over(const FlowRecords& records, const Catalog& catalog, DocumentStore& documents,
                       Schemas& schemas, const LoadLimits& limits, Draft& draft);

/// An agent that works on a file which belonged to its flow when it started, and belongs to another
/// flow now.
struct AgentElsewhere {
  RunId run;
  FlowId former;
  FlowId now;
  std::string path;
};
std::vector<AgentElsewhere> agents_elsewhere(const FlowRecords& records, const Catalog& catalog);

/// The stage of a flow has changed: whether that ends its hold as `moved`. With several subjects it
/// does not, because the other subjects stand where they stood. It does not either if the writer
/// had not seen baton's last write, because the stage that baton wrote was never in the file.
bool stage_change_resumes(const FlowRecord& record, const Draft& draft);

}  // namespace baton
