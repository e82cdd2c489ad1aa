// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds other daemons and their roots by the state folders that this context can find. Commands
// then also control roots that the configuration no longer names, and two daemons do not act on the
// same files. A daemon whose state folder lies elsewhere stays unknown.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/context.h"

namespace baton {

/// Roots that an earlier daemon served by this configuration and on which agents still run,
/// although the configuration no longer names them. No daemon looks after these agents.
std::vector<std::string> abandoned_roots(const Context& context);

/// Errc::served: another daemon serves a folder inside this root, or a folder around it. Both
/// daemons would act on the same files.
Result<void> check_other_daemons(const Context& context, const std::string& root);

/// Adds the roots that running daemons serve by this configuration, and abandoned roots, for a
/// command that controls all roots. With --root it adds none.
Context with_all_roots(const Context& context);

/// How many agents run on this root; 0 if the journal cannot be read.
std::uint32_t running_on(const Context& context);

/// How many agents run on the other roots that share limits with this root: the roots of its
/// daemon, or those of the configuration if no daemon runs. A root that cannot be read counts as 0.
std::uint32_t running_on_other_roots(const Context& context);

}  // namespace baton
