// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which folders below a root must be watched, from the patterns of the files that matter.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// A folder whose files are watched, relative to the root ("": the root itself), and how many
/// levels of folders below it (0: only its own files).
struct WatchedFolder {
  std::string folder;
  unsigned depth = 0;
  bool operator==(const WatchedFolder&) const = default;
};

class WatchScope {
 public:
  explicit WatchScope(std::vector<WatchedFolder> folders) : folders_(std::move(folders)) {}

  /// Nothing: the folder does not matter. kOnTheWay: its files do not matter, but a watched folder
  /// is or may appear below it. Otherwise its files matter, and that many levels of folders below.
  std::optional<std::int64_t> level(std::string_view folder) const;
  static constexpr std::int64_t kOnTheWay = -1;

 private:
  std::vector<WatchedFolder> folders_;
};

}  // namespace baton
