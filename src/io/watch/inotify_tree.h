#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/files/fd.h"
#include "io/watch/changes.h"
#include "io/watch/watch_scope.h"

namespace baton {

/// Watches the folders of one root by inotify.
///
/// Folders are nodes named by their parents, so that a path is always built from what holds now.
/// What an event says about a folder is only a reason to look at that name again: is a folder
/// there, it is watched first and then listed, so that nothing made in between is missed; is none
/// there, its node is dropped. So the order of events does not matter, nor do events that come
/// twice.
///
/// The root may be missing or be replaced: then the nearest folder above it that exists is watched
/// for the name that leads to it. While it exists, its parent is.
class InotifyTree {
 public:
  /// `max_watches`: use no more, whatever the kernel allows.
  InotifyTree(std::string root, WatchScope reach, std::size_t max_watches);
  InotifyTree(const InotifyTree&) = delete;
  InotifyTree& operator=(const InotifyTree&) = delete;
  InotifyTree(InotifyTree&&) = delete;
  InotifyTree& operator=(InotifyTree&&) = delete;
  ~InotifyTree() = default;

  /// To be waited on; -1 when there are no more inotify instances. Then everything is unwatched.
  int fd() const { return inotify_.get(); }
  /// The root's folder; -1 while it is missing.
  int root() const { return root_.get(); }
  /// "nfs" ...: where no events can be had, everything is unwatched.
  std::string_view network() const { return network_; }

  /// Reads all events there are. Folders that came up are watched, and their files reported.
  void drain(Changes& changes);
  /// Looks whether the root is still the root, and tries again to watch what could not be watched.
  void check(Changes& changes);

  std::size_t watches() const { return by_watch_.size(); }
  /// Folders that exist and matter but cannot be watched, with everything below them.
  const std::set<std::string>& unwatched() const { return unwatched_; }
  /// Folders that matter but that we may not read.
  const std::set<std::string>& unreadable() const { return unreadable_; }
  /// Where a missing root is waited for; empty while it exists.
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
    std::string_view name;
  };

  static std::string path_of(const Node& node);
  bool add_watch(Node& node, int folder);
  void end_watch(Node& node);
  void end_watches_below(Node& node);
  void drop(Node& node);
  void adopt(Node& top, Changes* report);
  std::vector<Node*> children_of(Node& node, const std::string& path,
                                 const std::set<std::string>& folders);
  std::vector<Node*> adopt_one(Node& node, Changes* report);
  void give_up(Node& node);
  void look_at_folder(Node& parent, const std::string& name, Changes& changes);
  void handle(const Event& event, Changes& changes);
  void handle_in(Node& node, const Event& event, Changes& changes);
  bool read_some(Changes& changes, bool& overflow);
  void watch_again(Changes& changes);
  Node* node_at(const std::string& path) const;
  void arm();
  bool open_root();
  void guard(const std::string& folder);
  void forget_root();
  /// True when no write will follow its appearance: a link, a pipe, a socket, a device.
  bool is_whole(const std::string& path) const;

  std::string root_path_;
  WatchScope reach_;
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
  bool look_at_root_ = false;
  bool lost_root_ = false;
};

}  // namespace baton
