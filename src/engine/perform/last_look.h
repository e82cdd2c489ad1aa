// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last look at a flow's files, right before a start of it is released. A tool may have put
// another version in place since the files were accepted, or may have removed them.

#include <set>
#include <string>
#include <vector>

#include "config/setup.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/perform/starter.h"
#include "engine/state/flow_record.h"

namespace baton {

struct LastLookPorts {
  Disk& disk;
  const Catalog& catalog;
  DocumentStore& documents;
  Schemas& schemas;
  const Setup& setup;
};

/// What the last look has found.
struct LastLook {
  std::set<FlowId> withdrawn;  ///< flows whose starts must not be released: their files have gone,
                               ///< or their stages are others now
  std::set<std::string> changed;  ///< files of theirs to look at in the next step
};

/// Looks at the files of all flows with prepared starts. Reads, and changes nothing. A file that
/// cannot be read or is not valid keeps no start from being released: its last version is in force.
LastLook last_look(const LastLookPorts& ports, const FlowRecords& records, const Prepares& prepared,
                   Time now, Time wall);

}  // namespace baton
