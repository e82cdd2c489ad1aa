#pragma once

#include <vector>

#include "core/dialect.h"

namespace baton::agent_run {

/// The run state as it was accepted last; nothing for a run of another program.
std::vector<Create> rebuild(const View& view);

}  // namespace baton::agent_run
