// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists folders: one folder, or a tree down to a given depth. Works on open folders, so a folder
// that is renamed meanwhile does not lead elsewhere. Never follows links and never enters other
// mounts.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

struct FolderNames {
  std::vector<std::string> files;  ///< everything that is not a folder, links included
  std::vector<std::string> folders;
};

/// Reads an open folder from its beginning. The caller keeps the descriptor.
Result<FolderNames> names_in(int folder, const std::string& where);

/// Opens the folder `path` below `root` ("": `root` itself) and reads it.
struct OpenFolder {
  Fd fd;
  FolderNames names;
};
Result<OpenFolder> list_folder(int root, const std::string& path);

/// Calls `file` for each file below `folder` ("": `root` itself), down to `depth` levels. It is not
/// recursive and holds one descriptor at a time, so no tree is too deep. It skips links, other
/// mounts, folders that may not be read, and what vanishes meanwhile. It reports other mounts
/// (Errc::not_regular) and unreadable folders (denied) to `closed`, and every folder to `below`,
/// also those that are too deep. A missing `folder` counts as empty; if it is not a folder, the
/// result is Errc::not_regular.
struct Walk {
  std::function<void(std::string path)> file;
  std::function<void(const std::string& folder, const Error& why)> closed = nullptr;
  std::function<void(std::string path)> below = nullptr;
};
Result<void> walk_files(int root, const std::string& folder, unsigned depth, const Walk& walk);

}  // namespace baton
