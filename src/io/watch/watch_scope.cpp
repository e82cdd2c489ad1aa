// SPDX-License-Identifier: Apache-2.0
#include "io/watch/watch_scope.h"

#include <algorithm>

namespace baton {

namespace {

// How many levels `folder` is below `above`; nothing when it is not below.
std::optional<std::int64_t> levels_below(std::string_view folder, std::string_view above) {
  if (folder == above)
    return 0;
  if (!above.empty()) {
    if (!folder.starts_with(above) || folder[above.size()] != '/')
      return {};
    folder.remove_prefix(above.size() + 1);
  }
  return 1 + std::count(folder.begin(), folder.end(), '/');
}

}  // namespace

std::optional<std::int64_t> WatchScope::level(std::string_view folder) const {
  std::optional<std::int64_t> best;
  for (const WatchedFolder& watched : folders_) {
    std::optional<std::int64_t> level;
    if (const auto below = levels_below(folder, watched.folder); below && *below <= watched.depth)
      level = watched.depth - *below;
    else if (levels_below(watched.folder, folder))
      level = kOnTheWay;
    if (level && (!best || *level > *best))
      best = level;
  }
  return best;
}

}  // namespace baton
