#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// A folder whose files are watched, relative to the root ("": the root itself), and how many
/// levels of folders below it (0: its own files only).
struct WatchedFolder {
  std::string folder;
  unsigned depth = 0;
  bool operator==(const WatchedFolder&) const = default;
};

/// Which folders below a root matter. Pure.
class WatchScope {
 public:
  explicit WatchScope(std::vector<WatchedFolder> folders) : folders_(std::move(folders)) {}

  /// Nothing: the folder does not matter. kOnTheWay: its files do not, but a watched folder lies or
  /// may appear below it. Otherwise its files matter, and that many levels of folders below.
  std::optional<std::int64_t> level(std::string_view folder) const;
  static constexpr std::int64_t kOnTheWay = -1;

 private:
  std::vector<WatchedFolder> folders_;
};

}  // namespace baton
