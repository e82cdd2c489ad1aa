// SPDX-License-Identifier: Apache-2.0
#include "shim/file_changes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dirent.h>

#include "shim/text.h"

namespace baton::shim {
namespace {

constexpr std::array<std::string_view, 4> kLeftOut = {"node_modules", ".venv", "target",
                                                      "__pycache__"};

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Folders still to be listed, the first one first.
class Folders {
 public:
  Folders() = default;
  ~Folders() { free(bytes_); }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  Folders(Folders&&) = delete;
  Folders& operator=(Folders&&) = delete;

  /// Returns false when there is no memory.
  bool add(std::string_view folder, std::string_view name) {
    const std::size_t more = folder.size() + name.size() + 2;
    if (size_ + more > room_) {
      const std::size_t room = std::max(size_ + more, room_ * 2);
      auto* bytes = static_cast<char*>(realloc(bytes_, room));
      if (bytes == nullptr)
        return false;
      bytes_ = bytes;
      room_ = room;
    }
    put(folder);
    if (!name.empty() && !folder.ends_with('/'))
      bytes_[size_++] = '/';
    put(name);
    bytes_[size_++] = '\0';
    return true;
  }
  bool empty() const { return next_ == size_; }
  /// The offset of the next folder. It stays valid; the memory behind it may move.
  std::size_t take() {
    const std::size_t at = next_;
    next_ += std::strlen(bytes_ + at) + 1;
    return at;
  }
  const char* at(std::size_t offset) const { return bytes_ + offset; }

 private:
  void put(std::string_view text) {
    if (!text.empty())
      std::memcpy(bytes_ + size_, text.data(), text.size());
    size_ += text.size();
  }

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  std::size_t next_ = 0;
};

struct Place {
  dev_t device = 0;
  ino_t number = 0;
};

Place place_of(int directory, const char* path) {
  struct stat status {};
  return fstatat(directory, path, &status, 0) == 0 ? Place{status.st_dev, status.st_ino} : Place{};
}

class Looker {
 public:
  Looker(std::int64_t since_ns, int run_directory, std::size_t most)
      : since_ns_(since_ns),
        left_out_{place_of(run_directory, ".."), place_of(run_directory, "../..")},
        most_(most) {}

  Look look(const char* const* paths) {
    for (; *paths != nullptr && !over(); ++paths)
      begin(*paths);
    while (!folders_.empty() && !over())
      list(folders_.take());
    return changed_ ? Look::changed : unknown_ ? Look::unknown : Look::quiet;
  }

 private:
  bool over() const { return changed_ || looked_ > most_; }

  /// A path that vanishes has changed. Another error leaves it unknown.
  void failed() {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
      changed_ = true;
    else
      unknown_ = true;
  }

  void begin(const char* path) {
    struct stat status {};
    if (stat(path, &status) != 0) {
      unknown_ = unknown_ || (errno != ENOENT && errno != ENOTDIR);
      return;
    }
    see(status);
    if (S_ISDIR(status.st_mode) && !folders_.add(path, {}))
      unknown_ = true;
  }

  void see(const struct stat& status) {
    if (++looked_ > most_)
      unknown_ = true;
    const std::int64_t time = nanoseconds(status.st_ctim);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    changed_ = changed_ || (time > since_ns_ && time <= nanoseconds(now));
  }

  void list(std::size_t folder) {
    DIR* const names = opendir(folders_.at(folder));
    if (names == nullptr)
      return failed();
    errno = 0;
    while (const dirent* const entry = over() ? nullptr : readdir(names)) {
      const std::string_view name(entry->d_name);
      if (name == ".git")
        see_git(dirfd(names));
      else if (name != "." && name != "..")
        see_entry(dirfd(names), folder, entry->d_name);
      errno = 0;
    }
    if (errno != 0)
      unknown_ = true;
    closedir(names);
  }

  void see_git(int directory) {
    for (const char* const name : {".git/index", ".git/HEAD"}) {
      struct stat status {};
      if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        see(status);
    }
  }

  void see_entry(int directory, std::size_t folder, const char* name) {
    struct stat status {};
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      return failed();
    const bool is_folder = S_ISDIR(status.st_mode);
    if (is_folder && is_left_out(status, name))
      return;
    see(status);
    if (is_folder && !add(folder, name))
      unknown_ = true;
  }

  bool is_left_out(const struct stat& status, std::string_view name) const {
    return std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end() ||
           std::any_of(left_out_.begin(), left_out_.end(), [&](const Place& each) {
             return each.number == status.st_ino && each.device == status.st_dev;
           });
  }

  bool add(std::size_t folder, const char* name) {
    // `folders_` may move its memory, so its own text cannot be an argument.
    const Text path = Text() << folders_.at(folder);
    return path.view() == folders_.at(folder) && folders_.add(path.view(), name);
  }

  std::int64_t since_ns_;
  std::array<Place, 2> left_out_;
  std::size_t most_;
  std::size_t looked_ = 0;
  bool changed_ = false;
  bool unknown_ = false;
  Folders folders_;
};

}  // namespace

Look look_for_changes(const char* const* paths, std::int64_t since_ns, int run_directory,
                      std::size_t most) {
  return Looker(since_ns, run_directory, most).look(paths);
}

}  // namespace baton::shim
