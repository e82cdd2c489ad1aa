#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::ccw_loop {

std::vector<FileKind> files(const Json& options);

/// The loop that a path names, by its last segment alone: `x/loop-v2-a.json` → `loop-v2-a`. Nothing
/// for any other name.
std::optional<std::string_view> loop_of_name(std::string_view path);

}  // namespace baton::ccw_loop
