// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds changed files where inotify gives no events: on network file systems, on FUSE, or without
// free watches. It compares the times, sizes and inodes of all files with the last look. It does
// not read the files.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "io/watch/watch_scope.h"

namespace baton {

/// Tells versions of a file apart without reading it. `young`: changed so shortly before the look
/// that another change might not show, because time stamps are only as fine as the kernel's tick.
struct FileState {
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t inode = 0;
  std::int64_t size_bytes = 0;
  bool young = false;
  bool operator==(const FileState&) const = default;
};
using FileStates = std::map<std::string, FileState>;

/// Paths that appeared, vanished or differ, and paths that were young at the earlier look.
std::set<std::string> differences(const FileStates& before, const FileStates& after);

/// The states of all files that matter in `folders` and below. `open_files`: open each file first,
/// because some network file systems show its true state only then. Errc::busy when descriptors
/// have run out.
Result<FileStates> stamps_of(int root, const std::set<std::string>& folders,
                             const WatchScope& scope, bool open_files);

}  // namespace baton
