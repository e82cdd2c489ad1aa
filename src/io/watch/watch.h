// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports changes below a root: by inotify where possible, by polling elsewhere, and by a rescan
// from time to time. An event is only a hint; the caller reads the file and compares.

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/pinned.h"
#include "base/time.h"
#include "io/watch/watch_scope.h"

namespace asio {
class io_context;
}  // namespace asio

namespace baton {

/// What may have changed: files to look at again, and reasons to look at all files: `overflow`,
/// `root_replaced`, `watch_limit`, `folder_gone`, `timer`.
struct Changes {
  std::set<std::string> paths;  ///< relative to the root; the file may be gone
  std::set<std::string> rescans;
  /// Files that were seen to be renamed, old and new name, in order. Only inotify sees them, and
  /// not after an overflow. The names are in `paths`, too.
  std::vector<std::pair<std::string, std::string>> renames;
  /// Of `paths`, those that were seen to appear by a rename or link, complete as they are.
  std::set<std::string> complete;
  bool empty() const { return paths.empty() && rescans.empty(); }
  bool operator==(const Changes&) const = default;
};

struct WatchOptions {
  Millis poll_every{2000};      ///< for folders that cannot be watched
  Millis rescan_every{60'000};  ///< interval of the `timer` rescan; zero: never
  bool poll_only = false;
  std::size_t max_watches = static_cast<std::size_t>(-1);
};

/// Watches the files of one root until it is destroyed. When `watch` returns, everything is
/// watched, so a scan after that misses nothing. It sleeps while nothing changes, except for the
/// rescans.
class Watch : private Pinned {
 public:
  struct State;
  explicit Watch(std::shared_ptr<State> state);
  ~Watch();

  /// A text for people, such as "inotify, 12 folders", with what is polled and why.
  std::string describe() const;
  /// Whether any folder is polled.
  bool polls() const;

 private:
  std::shared_ptr<State> state_;
};

/// Calls `changed` from the io_context with everything that happened until then, never empty;
/// `changed` may destroy the watch. Polls folders that cannot be watched, waits for a missing root,
/// and does not follow links below the root.
std::unique_ptr<Watch> watch(asio::io_context& io, const std::string& root,
                             std::vector<WatchedFolder> folders,
                             std::function<void(const Changes&)> changed,
                             const WatchOptions& options = {});

}  // namespace baton
