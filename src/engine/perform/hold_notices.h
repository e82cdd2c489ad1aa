// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which holds of a flow people hear of, once each.

#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Enters the holds of a flow into its record, and adds an event for each new one that needs a
/// person. `later`: leaves new ones to the next daemon, because a command notifies nobody. Caps of
/// many flows are told by `Planning`.
void note_holds(Draft& next, const FlowRecord& known, const Plan& plan, bool later);

}  // namespace baton
