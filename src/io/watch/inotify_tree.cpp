// SPDX-License-Identifier: Apache-2.0
#include "io/watch/inotify_tree.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/file_facts.h"
#include "io/files/folder.h"
#include "io/files/root.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

constexpr std::size_t kBufferBytes = 256U << 10U;
// A writer that never pauses must not delay the report.
constexpr int kReadsAtOnce = 256;
constexpr int kTries = 64;

// Adds a watch to exactly this open folder, whatever its name leads to now.
int watch_open_folder(int inotify, int folder, std::uint32_t mask) {
  return inotify_add_watch(inotify, ("/proc/self/fd/" + std::to_string(folder)).c_str(), mask);
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

InotifyTree::InotifyTree(std::string root, WatchScope scope, std::size_t max_watches)
    : root_path_(std::move(root)),
      scope_(std::move(scope)),
      max_watches_(max_watches),
      inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      buffer_(kBufferBytes) {
  std::error_code error;
  root_path_ = std::filesystem::absolute(root_path_, error).string();
  while (root_path_.size() > 1 && root_path_.ends_with('/'))
    root_path_.pop_back();
  arm();
}

std::string InotifyTree::path_of(const Node& node) {
  if (node.parent == nullptr)
    return {};
  return join_path(path_of(*node.parent), node.name);
}

bool InotifyTree::add_watch(Node& node, int folder) {
  if (!inotify_ || (node.watch < 0 && by_watch_.size() >= max_watches_))
    return false;
  const int watch = watch_open_folder(inotify_.get(), folder, kFolderMask);
  if (watch < 0)
    return false;
  if (watch == node.watch)
    return true;
  end_watch(node);
  // The same folder under another name: it was moved, and the event comes later.
  if (const auto other = by_watch_.find(watch); other != by_watch_.end())
    other->second->watch = -1;
  node.watch = watch;
  by_watch_[watch] = &node;
  return true;
}

// Events that are still queued for the old number find no node and are ignored. The kernel does not
// reuse a number soon.
void InotifyTree::end_watch(Node& node) {
  if (node.watch < 0)
    return;
  inotify_rm_watch(inotify_.get(), node.watch);
  by_watch_.erase(node.watch);
  node.watch = -1;
}

void InotifyTree::end_watches_below(Node& node) {
  for (const auto& [name, child] : node.children) {
    end_watch(*child);
    end_watches_below(*child);
  }
}

void InotifyTree::drop(Node& node) {
  const std::string path = path_of(node);
  const auto below = [&path](const std::string& other) {
    return path.empty() || other == path || other.starts_with(path + "/");
  };
  std::erase_if(unwatched_, below);
  std::erase_if(unreadable_, below);
  end_watch(node);
  end_watches_below(node);
  node.children.clear();
  if (node.parent != nullptr)
    node.parent->children.erase(std::string(node.name));
}

void InotifyTree::unwatch(Node& node) {
  end_watch(node);
  end_watches_below(node);
  node.children.clear();
}

// Watches one folder and lists it. Returns the folders in it that matter.
std::vector<InotifyTree::Node*> InotifyTree::watch_folder(Node& node, Changes* report) {
  const std::string path = path_of(node);
  const auto fd = safe_open(root_.get(), path, O_RDONLY | O_DIRECTORY);
  if (!fd && fd.error().code == Errc::denied) {
    unwatch(node);
    unreadable_.insert(path);
    return {};
  }
  if (!fd && fd.error().code != Errc::busy) {
    drop(node);
    return {};
  }
  if (!fd || !add_watch(node, fd->get())) {
    unwatch(node);
    unwatched_.insert(path);
    return {};
  }
  unwatched_.erase(path);
  unreadable_.erase(path);
  node.level = scope_.level(path).value_or(WatchScope::kOnTheWay);
  const auto names = names_in(fd->get(), path);
  if (!names) {
    unwatch(node);
    unwatched_.insert(path);
    return {};
  }
  if (report != nullptr && node.level >= 0) {
    for (const auto* all : {&names->files, &names->folders})
      for (const std::string& name : *all)
        report->paths.insert(join_path(path, name));
  }
  return children_of(node, path, {names->folders.begin(), names->folders.end()});
}

/// Drops the nodes of folders that no longer exist.
std::vector<InotifyTree::Node*> InotifyTree::children_of(Node& node, const std::string& path,
                                                         const std::set<std::string>& folders) {
  for (auto child = node.children.begin(); child != node.children.end();) {
    Node& old = *child->second;
    ++child;
    if (!folders.contains(old.name))
      drop(old);
  }
  std::vector<Node*> found;
  for (const std::string& name : folders) {
    if (!scope_.level(join_path(path, name)))
      continue;
    auto& child = node.children[name];
    if (!child) {
      child = std::make_unique<Node>();
      child->parent = &node;
      child->name = name;
    }
    found.push_back(child.get());
  }
  return found;
}

void InotifyTree::watch_folders(Node& top, Changes* report) {
  std::vector<Node*> waiting{&top};
  while (!waiting.empty()) {
    Node& node = *waiting.back();
    waiting.pop_back();
    const auto found = watch_folder(node, report);
    waiting.insert(waiting.end(), found.begin(), found.end());
  }
}

void InotifyTree::check_folder(Node& parent, const std::string& name, Changes& changes) {
  if (!scope_.level(join_path(path_of(parent), name)))
    return;
  auto& child = parent.children[name];
  if (!child) {
    child = std::make_unique<Node>();
    child->parent = &parent;
    child->name = name;
  }
  watch_folders(*child, &changes);
}

bool InotifyTree::is_complete(const std::string& path) const {
  struct stat info {};
  if (fstatat(root_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if (!S_ISREG(info.st_mode) || info.st_nlink > 1)
    return true;
  // A link may be the only name of a file that is still being written: the first name is gone, or
  // the file never had one (O_TMPFILE).
  const auto file = open_regular(root_.get(), path, O_RDONLY);
  return file && open_writers(file->get()) == OpenWriters::none;
}

void InotifyTree::handle_in(Node& node, const Event& event, Changes& changes) {
  const std::string name(event.name);
  switch (meaning(event.mask)) {
    case EventMeaning::nothing:
    case EventMeaning::overflow:
      return;
    // In a folder that only leads to watched folders, a file matters if it takes the place of one
    // of them.
    case EventMeaning::file:
      if (const std::string path = join_path(path_of(node), name);
          node.level >= 0 || scope_.level(path)) {
        changes.paths.insert(path);
        if ((event.mask & IN_MOVED_TO) != 0)
          changes.complete.insert(path);
        if ((event.mask & IN_MOVED_FROM) != 0)
          leaves_ = {event.cookie, path};
        else if ((event.mask & IN_MOVED_TO) != 0 && event.cookie == leaves_.first)
          changes.renames.emplace_back(std::exchange(leaves_, {}).second, path);
      }
      return;
    case EventMeaning::file_made:
      if (const std::string path = join_path(path_of(node), name);
          (node.level >= 0 || scope_.level(path)) && is_complete(path)) {
        changes.paths.insert(path);
        changes.complete.insert(path);
      }
      return;
    case EventMeaning::folder_away:
      if (node.children.contains(name))
        changes.rescans.insert("folder_gone");
      [[fallthrough]];
    case EventMeaning::folder:
      // The folder may have replaced a file or been replaced by one.
      if (node.level >= 0)
        changes.paths.insert(join_path(path_of(node), name));
      check_folder(node, name, changes);
      return;
    case EventMeaning::self:
      look_at_root_ = look_at_root_ || &node == top_.get();
      return;
    case EventMeaning::watch_ended:
      by_watch_.erase(event.watch);
      node.watch = -1;
      lost_root_ = lost_root_ || &node == top_.get();
      return;
  }
}

void InotifyTree::handle(const Event& event, Changes& changes) {
  if (event.watch == guard_) {
    const EventMeaning seen = meaning(event.mask);
    if (seen == EventMeaning::watch_ended)
      guard_ = -1;
    if (seen == EventMeaning::watch_ended || seen == EventMeaning::self ||
        event.name == guarded_name_)
      look_at_root_ = true;
  }
  if (const auto node = by_watch_.find(event.watch); node != by_watch_.end())
    handle_in(*node->second, event, changes);
}

// Returns false when there is nothing more to read.
bool InotifyTree::read_some(Changes& changes, bool& overflow) {
  const ssize_t got = read(inotify_.get(), buffer_.data(), buffer_.size());
  if (got <= 0)
    return got < 0 && errno == EINTR;
  for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
    inotify_event head{};
    std::memcpy(&head, buffer_.data() + at, sizeof(head));
    const char* const name = buffer_.data() + at + sizeof(head);
    at += sizeof(head) + head.len;
    overflow = overflow || meaning(head.mask) == EventMeaning::overflow;
    handle({.watch = head.wd,
            .mask = head.mask,
            .cookie = head.cookie,
            .name = {name, strnlen(name, head.len)}},
           changes);
  }
  return true;
}

void InotifyTree::drain(Changes& changes) {
  if (!inotify_)
    return;
  bool overflow = false;
  for (int i = 0; i < kReadsAtOnce && read_some(changes, overflow); ++i) {}
  if (overflow) {
    changes.rescans.insert("overflow");
    look_at_root_ = true;
    if (top_ && network_.empty())
      watch_folders(*top_, nullptr);
  }
  if (look_at_root_ || lost_root_)
    check(changes);
}

void InotifyTree::check(Changes& changes) {
  look_at_root_ = false;
  if (root_ && !lost_root_ && leads_to(root_path_, root_.get())) {
    watch_again(changes);
    return;
  }
  const bool was_there = static_cast<bool>(root_);
  forget_root();
  arm();
  if (was_there || root_)
    changes.rescans.insert("root_replaced");
}

void InotifyTree::watch_again(Changes& changes) {
  if (!inotify_ || !network_.empty())
    return;
  std::set<std::string> again = unwatched_;
  again.insert(unreadable_.begin(), unreadable_.end());
  for (const std::string& path : again) {
    if (Node* const node = node_at(path); node != nullptr)
      watch_folders(*node, &changes);
  }
}

InotifyTree::Node* InotifyTree::node_at(const std::string& path) const {
  Node* node = top_.get();
  if (path.empty() || node == nullptr)
    return node;
  for (const std::string& name : split(path, '/')) {
    const auto child = node->children.find(name);
    if (child == node->children.end())
      return nullptr;
    node = child->second.get();
  }
  return node;
}

void InotifyTree::forget_root() {
  if (top_)
    drop(*top_);
  top_.reset();
  by_watch_.clear();
  unwatched_.clear();
  unreadable_.clear();
  root_.reset();
  lost_root_ = false;
}

void InotifyTree::guard(const std::string& folder) {
  if (guard_ >= 0 && inotify_)
    inotify_rm_watch(inotify_.get(), guard_);
  guard_ = inotify_ ? inotify_add_watch(inotify_.get(), folder.c_str(), kGuardMask) : -1;
}

// Opens the root and watches everything below it, after its parent.
bool InotifyTree::open_root() {
  auto fd = open_folder(root_path_);
  if (!fd)
    return false;
  guarded_name_ = name_of(root_path_);
  if (root_path_ != "/")
    guard(parent_of(root_path_));
  if (!leads_to(root_path_, fd->get()))
    return false;
  root_ = std::move(*fd);
  network_ = network_file_system_of(root_.get());
  waits_at_.clear();
  top_ = std::make_unique<Node>();
  top_->level = scope_.level("").value_or(WatchScope::kOnTheWay);
  if (inotify_ && network_.empty())
    watch_folders(*top_, nullptr);
  else
    unwatched_.insert("");
  return true;
}

void InotifyTree::arm() {
  for (int i = 0; i < kTries; ++i) {
    if (open_root())
      return;
    waits_at_ = root_path_;
    do {
      guarded_name_ = name_of(waits_at_);
      waits_at_ = parent_of(waits_at_);
      guard(waits_at_);
    } while (guard_ < 0 && waits_at_ != "/");
    // The root may have appeared between the look and the watch.
    struct stat info {};
    if (stat((waits_at_ + "/" + guarded_name_).c_str(), &info) != 0)
      return;
  }
}

EventMeaning meaning(std::uint32_t mask) {
  const auto has = [mask](std::uint32_t bits) { return (mask & bits) != 0; };
  if (has(IN_Q_OVERFLOW))
    return EventMeaning::overflow;
  if (has(IN_IGNORED))
    return EventMeaning::watch_ended;
  if (has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
    return EventMeaning::self;
  if (has(IN_ISDIR)) {
    if (has(IN_MOVED_FROM))
      return EventMeaning::folder_away;
    return has(IN_CREATE | IN_MOVED_TO | IN_DELETE) ? EventMeaning::folder : EventMeaning::nothing;
  }
  if (has(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE))
    return EventMeaning::file;
  return has(IN_CREATE) ? EventMeaning::file_made : EventMeaning::nothing;
}

}  // namespace baton
