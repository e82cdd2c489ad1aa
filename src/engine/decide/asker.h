// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an agent may ask for. Agents may pause and stop their own flow. Everything else that changes
// what happens is for people, unless the role of the run has `may: [VERB, ...]` in the
// configuration. Commands that only look make no request.

#include <map>
#include <optional>
#include <string>

#include "config/setup.h"
#include "core/event.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Enters into `request` who asks, if that is an agent, and returns why the request is refused;
/// nothing: it may be carried out.
/// A request whose process has ended counts as an agent's while a run of the root lives. A pause
/// and a stop are carried out all the same: they can only hold work back. Otherwise it becomes a
/// person's, so that a run that begins later changes nothing.
std::optional<std::string> judge_asker(Request& request, const FlowRecords& records,
                                       const std::map<Role, AgentSpec>& agents);

}  // namespace baton
