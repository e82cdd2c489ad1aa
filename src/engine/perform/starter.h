// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prepares and releases the starts of a plan. `prepare` makes a shim that waits and enters the run
// into the draft. After the commit `release` lets the agents go.
// So nothing runs without an entry in the journal; see "Started once" in src/README.md. What to
// start is decided before, in planning.h.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ports.h"
#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Prepared starts, each with the id of its run.
using Prepares = std::vector<std::pair<Start, RunId>>;

struct Starter {
  Prepares prepared;
  std::vector<Start> failed;  ///< those that could not be prepared
  std::string trouble;        ///< why the last of them failed; "" if none did
};

/// Prepares every start of the plan and enters its run into the draft. `launches` are those of
/// `plan.starts`, in the same order.
Starter prepare(Agents& agents, Draft& next, const Plan& plan, const std::vector<Launch>& launches);

/// Releases prepared runs after the commit of their starts. Revokes the runs of `unfit` flows,
/// because their writes were not made or their files ask for other things by now. Returns the ends
/// of runs that did not start.
std::vector<RunEnd> release(Agents& agents, FlowRecords& records, const Prepares& prepared,
                            const std::set<FlowId>& unfit);

}  // namespace baton
