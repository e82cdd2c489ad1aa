#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/context.h"

namespace baton {

/// Roots that a daemon which is no more served by this configuration, that it does not name any
/// more, and on which agents still run: no daemon adopts these.
std::vector<std::string> left_behind(const Context& context);

/// Fails (Errc::served) when another living daemon serves a folder inside this root, or one in
/// which it lies: files that both know would be acted upon twice. Sees daemons whose state lies
/// where this context looks for it.
Result<void> apart_from_others(const Context& context, const std::string& root);

/// The context of a command that controls: of the roots of the configuration, in force and in the
/// file, and of those that living daemons serve by it or that were left behind, though it may name
/// them no more or their folders may be elsewhere by now: their agents run. With --root only that
/// one.
Context in_charge(const Context& context);

/// How many agents run on this root; 0 where that cannot be read.
std::uint32_t running_on(const Context& context);

/// How many agents run on the other roots with which this context's root shares its limits: those
/// of the daemon that serves it, else those of the configuration. Roots that cannot be read count
/// nothing.
std::uint32_t running_beside(const Context& context);

}  // namespace baton
