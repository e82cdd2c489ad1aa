#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace baton {

/// A folder that is there, absolute and without links. Errc::not_found, denied.
Result<std::string> existing_folder(const std::string& path);

/// Roots of one daemon lie beside each other. Errc::config names the two that do not.
Result<void> check_apart(const std::vector<std::string>& roots);

/// An absolute path below `root` as relative to it; nothing when it lies elsewhere.
std::optional<std::string> below(const std::string& root, const std::string& path);

/// A path whose links were followed only outside of certain folders.
struct LinkPath {
  std::string path;  ///< absolute
  std::string link;  ///< the first link that was not followed; "" when there is none
};
/// `inside` says whether links in an absolute folder without links are left alone.
LinkPath resolve_outside(const std::string& path,
                         const std::function<bool(const std::string& folder)>& inside);

}  // namespace baton
