#pragma once

#include <optional>

#include "dialects/ccw_loop/scene.h"

namespace baton::ccw_loop {

/// With `tee_debug`, once for each executor that has ended: the records for debug.log among the
/// lines it printed that do not stand there yet (C-27).
std::optional<Append> tee(Scene& scene);

}  // namespace baton::ccw_loop
