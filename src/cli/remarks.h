#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "app/setup.h"

namespace baton {

/// What of a configuration cannot be used, by name, though the rest of it can: agents, prompts,
/// roles that nobody plays, files that are never seen. For whoever has it read.
std::vector<std::string> remarks_on(const Config& config, const Setup& setup);

}  // namespace baton
