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

/// Gives roles that `default` plays an agent of their own, where files override their prompts.
void add_default_agents(const Config& config, Setup& setup);

/// Looks at it again before a start: its programs where nothing was wrong, else at everything.
AgentSpec renewed(const Config& config, const Role& role, AgentSpec known,
                  const Environment& environment);

/// The roles that dialects ask for by themselves and nobody plays; what is to be said of each.
std::vector<std::string> unplayed(const Config& config,
                                  const std::vector<std::pair<const Dialect*, Json>>& served);

/// Runs the filters of backups: a program found and trusted as those of agents are, for ten seconds
/// at most. Errc::config: it cannot be used; busy: it was too slow; io: it failed, or gave
/// nothing.
Filter filter_below(const std::string& configuration_folder);

}  // namespace baton
