// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values of `--set` become variables of all agents of a run, whatever their roles. Names that
// steer programs are refused: else a person or an agent that starts a run would choose what the
// agents of other roles load and execute, with the secrets of those roles.

#include <string_view>

namespace baton::agent_run {

/// Whether a name can be an environment variable.
bool is_variable(std::string_view name);

/// Whether the variable says what a program loads, executes or connects to, or is baton's own.
bool steers_programs(std::string_view name);

}  // namespace baton::agent_run
