// SPDX-License-Identifier: Apache-2.0
#pragma once

// Refuses to agents what a command does by itself, without the daemon. What goes to the daemon as a
// request, the daemon judges (engine/decide/asker.h).

#include <optional>

#include "core/exit_code.h"
#include "core/flow.h"
#include "workspace/context.h"
#include "workspace/options.h"

namespace baton {

/// The exit code, after a message, if this command runs inside of an agent's run whose role has no
/// `may: [verb]` in the configuration of this root.
std::optional<ExitCode> refused_to_agent(const Context& context, const Word& verb);
/// The same for a command that needs no configuration.
std::optional<ExitCode> refused_to_agent_anywhere(const Places& places, const Word& verb);

/// `unreachable`, after a message, if no daemon serves a root of the context and its agents still
/// run: nobody could see then who asks.
std::optional<ExitCode> refused_beside_agents(const Context& context);

/// Both, for each root of the context.
std::optional<ExitCode> refused_to_command(const Context& context, const Word& verb);

}  // namespace baton
