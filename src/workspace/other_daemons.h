#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/context.h"

namespace baton {

/// Roots that an earlier daemon served by this configuration, that it no longer names, and on which
/// agents still run. No daemon looks after these agents.
std::vector<std::string> abandoned_roots(const Context& context);

/// Errc::served: another daemon serves a folder inside this root, or one around it. Both would act
/// upon the same files. Sees daemons whose state lies where this context looks for it.
Result<void> check_other_daemons(const Context& context, const std::string& root);

/// The context of a command that controls all roots: also of those that running daemons serve by
/// this configuration, and of abandoned ones. With --root only that one.
Context with_all_roots(const Context& context);

/// How many agents run on this root; 0 where that cannot be read.
std::uint32_t running_on(const Context& context);

/// How many agents run on the other roots with which this context's root shares its limits: those
/// of the daemon that serves it, else those of the configuration. Roots that cannot be read count
/// nothing.
std::uint32_t running_on_other_roots(const Context& context);

}  // namespace baton
