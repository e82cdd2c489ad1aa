#pragma once

#include "dialects/agent_run/scene.h"

namespace baton::agent_run {

/// A decision that came by command: `approve`, `reject`; `answer` decides nothing. What was said
/// is kept beside the decisions that came as files.
Reply heard(Scene& scene, const Request& request, Decision& decision);

}  // namespace baton::agent_run
