#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// The master state as it can be rebuilt, best first: from the last accepted version, from the
/// backup, from the progress files. Never one that runs. Which fields each source knows is on the
/// format page.
std::vector<Create> rebuild(const View& view);

/// `skill_state` from the progress files alone. Null when there are none.
Json rebuilt_skill(const FlowState& docs, bool interactive);

}  // namespace baton::ccw_loop
