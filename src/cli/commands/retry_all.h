// SPDX-License-Identifier: Apache-2.0
#pragma once

// `baton retry --all`: one retry for each flow that waits for one.

#include <string>

#include "core/exit_code.h"
#include "workspace/context.h"

namespace baton {

/// Retries every flow, on all roots, that is blocked or failed and goes on by `baton retry`.
/// `only`: blocked or failed; empty: both. Prints the name of each flow with the answer. Goes on
/// after a refusal; the gravest code counts. `wait`: for the answers of a daemon.
ExitCode retry_all(const Context& context, const std::string& only, bool wait);

}  // namespace baton
