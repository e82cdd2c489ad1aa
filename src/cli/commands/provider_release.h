// SPDX-License-Identifier: Apache-2.0
#pragma once

// The providers that are parked, for `baton limits` and `baton resume --agent|--provider`.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/provider_limits.h"
#include "workspace/context.h"

namespace baton {

/// The state folders of the roots, one for each folder in which they lie: those share a daemon.db.
Result<std::vector<std::string>> shared_state_folders(const Context& context);

/// Of all state folders of the context, each row once.
Result<std::vector<Parked>> parked_providers(const Context& context);
/// Removes the rows that `wanted` names. Returns how many. A daemon notices it within five seconds.
Result<std::size_t> release_providers(const Context& context,
                                      const std::function<bool(const Parked&)>& wanted);

}  // namespace baton
