#pragma once

#include "app/config.h"
#include "app/launch.h"
#include "core/dialect.h"

namespace baton {

/// Makes a role ready for use: finds and checks its program, reads its prompt, picks its variables
/// from this process's own. What is missing is named in `problem`; the other roles go on.
AgentSpec agent_spec(const Config& config, const Role& role, const AgentConfig& agent,
                     const Environment& environment);

/// Looks at it again before a start: its programs where nothing was wrong, else at everything.
AgentSpec renewed(const Config& config, const Role& role, AgentSpec known,
                  const Environment& environment);

}  // namespace baton
