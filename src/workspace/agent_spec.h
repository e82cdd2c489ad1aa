#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "config/config.h"
#include "config/setup.h"
#include "core/dialect.h"

namespace baton {

/// Makes a role ready for use: finds and checks its program, reads its prompt, picks its variables
/// from this process's own. What is missing is named in `problem`; the other roles go on.
AgentSpec agent_spec(const Config& config, const Role& role, const AgentConfig& agent,
                     const Environment& environment);

/// `default` plays roles that have different prompts. Those with a file that cannot be used become
/// agents of their own, which cannot be started.
void add_default_agents(const Config& config, Setup& setup);

/// Looks at it again before a start: its programs where nothing was wrong, else at everything.
AgentSpec renewed(const Config& config, const Role& role, AgentSpec known,
                  const Environment& environment);

/// The roles that dialects ask for by themselves and nobody plays; what is to be said of each.
std::vector<std::string> unplayed(const Config& config,
                                  const std::vector<std::pair<const Dialect*, Json>>& served);

}  // namespace baton
