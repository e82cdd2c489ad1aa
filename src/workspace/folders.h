// SPDX-License-Identifier: Apache-2.0
#pragma once

// Questions about folders and paths of roots: whether they exist, and which lies inside which.
// Two roots of one daemon must not share files, because each would start agents for them.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace baton {

/// The absolute path of an existing folder, without links. Errc::not_found, denied, not_regular.
Result<std::string> existing_folder(const std::string& path);

/// Errc::config: one of these roots lies inside another one, or two are the same folder.
Result<void> check_apart(const std::vector<std::string>& roots);

/// `path` relative to `root`; nothing if it does not lie below `root`. Both are absolute.
std::optional<std::string> below(const std::string& root, const std::string& path);

/// A path whose links were followed only outside certain folders.
struct LinkPath {
  std::string path;  ///< absolute
  std::string link;  ///< the first link that was not followed; "" when there is none
};
/// Follows the links of a path. `inside` says whether links in this folder, which is absolute and
/// without links, stay as they are.
LinkPath resolve_outside(const std::string& path,
                         const std::function<bool(const std::string& folder)>& inside);

}  // namespace baton
