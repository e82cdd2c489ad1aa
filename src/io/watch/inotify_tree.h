// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches the folders of one root with inotify, and reports files that may have changed. Survives
// moved and replaced folders, overflows, and a root that is missing or replaced.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/inotify.h>

#include "base/pinned.h"
#include "io/files/fd.h"
#include "io/watch/watch.h"
#include "io/watch/watch_scope.h"

namespace baton {

/// Folders are nodes named by their parents, so a path is always built from the current names. An
/// event about a folder only makes us look at that name again. An existing folder is first watched
/// and then listed, so nothing is missed in between; a missing one is dropped. So the order of
/// events, and duplicates, do not matter.
///
/// If the root is missing, the nearest existing folder above it is watched for the name that leads
/// to it. While the root exists, its parent is watched.
class InotifyTree : private Pinned {
 public:
  /// Uses at most `max_watches`, whatever the kernel allows.
  InotifyTree(std::string root, WatchScope scope, std::size_t max_watches);

  /// The descriptor to wait on; -1 when no inotify instance is left. Then everything is unwatched.
  int fd() const { return inotify_.get(); }
  /// The root's folder; -1 while it is missing.
  int root() const { return root_.get(); }
  /// The name of a network file system, such as "nfs"; then there are no events, and everything is
  /// unwatched.
  std::string_view network() const { return network_; }

  /// Reads all queued events. Watches new folders and reports their files.
  void drain(Changes& changes);
  /// Checks that the root was not replaced, and tries again to watch what could not be watched.
  void check(Changes& changes);

  std::size_t watches() const { return by_watch_.size(); }
  /// Folders that matter but cannot be watched. Nothing below them is watched either.
  const std::set<std::string>& unwatched() const { return unwatched_; }
  /// Folders that matter and that we may not read.
  const std::set<std::string>& unreadable() const { return unreadable_; }
  /// The folder where baton waits for a missing root; empty while the root exists.
  const std::string& waits_at() const { return waits_at_; }

 private:
  struct Node {
    Node* parent = nullptr;
    std::string name;
    int watch = -1;
    std::int64_t level = WatchScope::kOnTheWay;
    std::map<std::string, std::unique_ptr<Node>> children;
  };
  struct Event {
    int watch;
    std::uint32_t mask;
    std::uint32_t cookie;
    std::string_view name;
  };

  static std::string path_of(const Node& node);
  bool add_watch(Node& node, int folder);
  void end_watch(Node& node);
  void end_watches_below(Node& node);
  void drop(Node& node);
  void watch_folders(Node& top, Changes* report);
  std::vector<Node*> children_of(Node& node, const std::string& path,
                                 const std::set<std::string>& folders);
  std::vector<Node*> watch_folder(Node& node, Changes* report);
  void unwatch(Node& node);
  void check_folder(Node& parent, const std::string& name, Changes& changes);
  void handle(const Event& event, Changes& changes);
  void handle_in(Node& node, const Event& event, Changes& changes);
  bool read_some(Changes& changes, bool& overflow);
  void watch_again(Changes& changes);
  Node* node_at(const std::string& path) const;
  void arm();
  bool open_root();
  void guard(const std::string& folder);
  void forget_root();
  /// True when no write follows after it appeared: a link, a pipe, a socket, a device.
  bool is_complete(const std::string& path) const;

  std::string root_path_;
  WatchScope scope_;
  std::size_t max_watches_;
  Fd inotify_;
  std::vector<char> buffer_;
  Fd root_;
  std::string network_;
  std::unique_ptr<Node> top_;
  std::unordered_map<int, Node*> by_watch_;
  std::set<std::string> unwatched_;
  std::set<std::string> unreadable_;
  std::string waits_at_;
  int guard_ = -1;
  std::string guarded_name_;
  /// The cookie and the former name of a file whose new name comes with the next event.
  std::pair<std::uint32_t, std::string> leaves_;
  bool look_at_root_ = false;
  bool lost_root_ = false;
};

/// The events of one folder. No IN_MODIFY: it comes once per write, and would make us read
/// half-written files. No event that our own reading causes. IN_CREATE is needed only for folders
/// and for link(2), symlink(2) and mknod(2), which cause no other event.
constexpr std::uint32_t kFolderMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE |
                                      IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                                      IN_EXCL_UNLINK;
/// For the folder in which a missing or replaced root will appear. IN_MASK_ADD, because a folder
/// has only one watch, and it may be watched already.
constexpr std::uint32_t kGuardMask = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM |
                                     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD;

enum class EventMeaning {
  nothing,      ///< of no interest
  file,         ///< a file was written, renamed or removed
  file_made,    ///< a name appeared; a close follows, except for links, pipes, sockets and devices
  folder,       ///< a folder came or went under this name
  folder_away,  ///< the same, and the files in it may have gone without events
  self,         ///< the watched folder itself was removed, renamed or unmounted
  watch_ended,  ///< the kernel has removed the watch
  overflow,     ///< events were lost
};
EventMeaning meaning(std::uint32_t mask);

}  // namespace baton
