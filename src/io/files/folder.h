#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace baton {

/// The names in one folder, without `.` and `..`.
struct FolderNames {
  std::vector<std::string> files;  ///< everything that is no folder, links included
  std::vector<std::string> folders;
};

/// Reads an open folder from its beginning. The descriptor stays the caller's.
Result<FolderNames> names_in(int folder, const std::string& where);

/// Calls `file` with each file below `folder` ("": `root` itself), `depth` levels of folders deep.
/// Not recursive, so that no tree is too deep for it; holds one descriptor at a time. What vanishes
/// meanwhile, links, other mounts and folders below that may not be read are passed over; the last
/// two are told to `closed`, as Errc::not_regular and denied. A `folder` that does not exist is
/// empty; one whose place something else takes is Errc::not_regular. Folders below are told to
/// `below`, also those too deep to be walked.
struct Walk {
  std::function<void(std::string path)> file;
  std::function<void(const std::string& folder, const Error& why)> closed = nullptr;
  std::function<void(std::string path)> below = nullptr;
};
Result<void> walk_files(int root, const std::string& folder, unsigned depth, const Walk& walk);

}  // namespace baton
