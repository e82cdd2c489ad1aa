// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles one request when no daemon runs, so that people can always control what runs. The command
// takes the lock of the root and runs an engine for a moment. This engine starts no agent.

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "workspace/context.h"

namespace baton {

/// When `act_offline` returns.
enum class Until {
  answered,      ///< when the request is answered
  agents_ended,  ///< also only when the agents of its flow have ended (of all flows without one)
};

/// Handles the request. Agents that an earlier daemon left running go on under their shims.
/// Errc::served: a daemon has started meanwhile. Errc::locked: another command keeps the lock.
/// Errc::busy: there was no answer in time, or agents have not ended in time.
Result<Reply> act_offline(const Context& context, const Request& request, Until until);

}  // namespace baton
