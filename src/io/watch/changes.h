#pragma once

#include <set>
#include <string>

namespace baton {

/// What may have changed, never what it means: files to look at again, and reasons to look at all
/// of them: `overflow`, `root_replaced`, `watch_limit`, `folder_gone`, `timer`.
struct Changes {
  std::set<std::string> paths;  ///< relative to the root; may be gone by now
  std::set<std::string> rescans;
  bool empty() const { return paths.empty() && rescans.empty(); }
  bool operator==(const Changes&) const = default;
};

}  // namespace baton
