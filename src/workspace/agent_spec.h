// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prepares the agents of a configuration: finds their programs, reads their prompts and picks their
// environment from that of this process. A fault of one agent goes into AgentSpec::problem, and the
// other agents stay usable. When an agent starts is the engine's decision.

#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "config/config.h"
#include "config/setup.h"
#include "core/dialect.h"

namespace baton {

/// Prepares the agent of a role. `problem` says what keeps it from being started.
AgentSpec agent_spec(const Config& config, const Role& role, const AgentConfig& agent,
                     const Environment& environment);

/// The files of which one is there after a login, as absolute paths, by the agent's own
/// environment.
std::vector<std::string> login_files(const AgentSpec& spec);
/// The value of a variable of the agent; empty: it does not get one.
std::string variable_of(const AgentSpec& spec, const std::string& name);

/// Notes the last change of the configuration as a change of every login. Call it before
/// `add_default_agents`.
void note_configuration(const std::string& configuration, Setup& setup);

/// Adds an agent for each role that `default` plays and for which files override prompts.
void add_default_agents(const Config& config, Setup& setup);

/// Checks an agent again before a start. If it has no problem so far, only its programs, its folder
/// and its login files are checked, else everything.
AgentSpec renewed(const Config& config, const Role& role, AgentSpec known,
                  const Environment& environment);

/// Sentences about the roles that a dialect asks for and no agent plays.
std::vector<std::string> unplayed(const Config& config,
                                  const std::vector<std::pair<const Dialect*, Json>>& served);

/// Runs the filter programs of backups, each for at most ten seconds. baton finds and checks them
/// like the programs of agents. Errc::config: the program cannot be used; busy: it was too slow;
/// io: it failed, or wrote nothing.
Filter filter_below(const std::string& configuration_folder);

}  // namespace baton
