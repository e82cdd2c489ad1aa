#pragma once

#include <string>
#include <vector>

#include "config/setup.h"
#include "workspace/context.h"

namespace baton {

/// What of a configuration cannot be used, by name, though the rest of it can: agents, prompts,
/// roles that nobody plays, files that are never seen, the program of `notify:`. For whoever has it
/// read; `setup` is of it, for one of its roots.
std::vector<std::string> config_warnings(const Context& context, const Setup& setup);

/// The program of `notify:`. Errors as of `find_program`.
Result<std::string> notify_program(const Context& context);

}  // namespace baton
