#pragma once

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "workspace/context.h"

namespace baton {

/// How far a request without a daemon goes.
enum class Until {
  answered,      ///< until it is answered
  agents_ended,  ///< and until the agents of its flow (or all) have ended
};

/// Takes the root's lock and does what a daemon would do with one request, starting nothing. Agents
/// that a former daemon left running are adopted for that time and go on under their shims.
/// Errc::served: a daemon has come up meanwhile; busy: agents could not be ended in time.
Result<Reply> act_offline(const Context& context, const Request& request, Until until);

}  // namespace baton
