#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ports.h"
#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Starts whose shims wait, with the runs they became.
using Prepares = std::vector<std::pair<Start, RunId>>;

struct Starter {
  Prepares prepared;
  std::vector<Start> failed;  ///< those that could not be prepared
  std::string trouble;        ///< why; try again later
};

/// Has a shim wait for every start of the plan and enters its run into the draft. `launches` are
/// those of `plan.starts`.
Starter prepare(Agents& agents, Draft& next, const Plan& plan, const std::vector<Launch>& launches);

/// Lets prepared runs go, once their start is committed; those of `unfit` flows, whose writes were
/// not made, are dropped. The ends of runs that came to nothing.
std::vector<RunEnd> release(Agents& agents, FlowRecords& records, const Prepares& prepared,
                            const std::set<FlowId>& unfit);

}  // namespace baton
