// SPDX-License-Identifier: Apache-2.0
#pragma once

// `baton resume ... --raise KEY=N`: lets the starts go on that wait at a cap of more than one flow
// (core/caps.h).

#include <optional>
#include <string>

#include "base/result.h"
#include "core/caps.h"
#include "core/exit_code.h"
#include "core/flow.h"
#include "workspace/context.h"

namespace baton {

/// Adds N to the cap KEY of the place, for one window of it, and writes down who did it.
/// `raise`: `KEY=N`.
ExitCode raise_cap(const Context& context, const CapPlace& place, const std::string& raise);
/// The same for the cap with this key at which the flow waits.
ExitCode raise_cap_of(const Context& on_root, const FlowId& flow, const std::string& raise);

/// The caps of the place that are reached, each with the command that raises it; empty: none is.
Result<std::string> caps_reached(const Context& context, const CapPlace& place);

}  // namespace baton
