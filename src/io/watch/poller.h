#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "io/watch/watch_scope.h"

namespace baton {

/// What tells versions of a file apart without reading it. `young`: changed so shortly before the
/// look that a further change may not show (time stamps are as coarse as the kernel's tick).
struct FileState {
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t inode = 0;
  std::int64_t size_bytes = 0;
  bool young = false;
  bool operator==(const FileState&) const = default;
};
using FileStates = std::map<std::string, FileState>;

/// Paths that came, went or differ, and those that were young at the former look.
std::set<std::string> differences(const FileStates& before, const FileStates& after);

/// The stamps of all files that matter in `folders` and below. `open_files`: network file systems
/// tell the truth about a file to those who open it only. Errc::busy when descriptors have run out.
Result<FileStates> stamps_of(int root, const std::set<std::string>& folders,
                             const WatchScope& reach, bool open_files);

}  // namespace baton
