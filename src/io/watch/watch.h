#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "io/watch/changes.h"
#include "io/watch/watch_scope.h"

namespace asio {
class io_context;
}  // namespace asio

namespace baton {

struct WatchOptions {
  Millis poll_every{2000};      ///< folders that cannot be watched
  Millis rescan_every{60'000};  ///< what no event tells: a `timer` rescan; zero: never
  bool poll_only = false;
  std::size_t max_watches = static_cast<std::size_t>(-1);
};

/// Watches the files of one root until destroyed. Everything is watched when `watch` returns, so a
/// scan by the caller after that misses nothing. Without changes it sleeps but for the rescans.
class Watch {
 public:
  struct State;
  explicit Watch(std::shared_ptr<State> state);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Watch(Watch&&) = delete;
  Watch& operator=(Watch&&) = delete;

  /// For people: "inotify, 12 folders", and what is polled, and why.
  std::string describe() const;
  /// Whether anything has to be polled.
  bool polls() const;

 private:
  std::shared_ptr<State> state_;
};

/// `changed` is called from the io_context, with everything that had happened by then, never empty,
/// and may destroy the watch. What cannot be watched (no watches left, network file systems) is
/// polled; a root that is missing is waited for. Links are not followed below the root.
std::unique_ptr<Watch> watch(asio::io_context& io, const std::string& root,
                             std::vector<WatchedFolder> folders,
                             std::function<void(const Changes&)> changed,
                             const WatchOptions& options = {});

}  // namespace baton
