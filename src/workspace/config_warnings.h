#pragma once

#include <string>
#include <vector>

#include "config/setup.h"
#include "core/catalog.h"
#include "workspace/context.h"

namespace baton {

/// What of a configuration cannot be used, by name, though the rest of it can: agents, prompts,
/// roles that nobody plays, files that are never seen, the program of `notify:`. For whoever has it
/// read; `setup` is of it, for one of its roots.
std::vector<std::string> config_warnings(const Context& context, const Setup& setup);

/// The program of `notify:`. Errors as of `find_program`.
Result<std::string> notify_program(const Context& context);

/// The patterns of all configured files, for whoever wonders why one is not seen; the first few.
std::string configured_patterns(const Context& context, const Catalog& catalog);

/// The files a rule names outright and never gets, for they are those of a dialect; what is to be
/// said of each.
std::vector<std::string> never_seen(const Catalog& catalog);

}  // namespace baton
