// SPDX-License-Identifier: Apache-2.0
#include "io/files/disk.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/displaced_files.h"
#include "io/files/exchange.h"
#include "io/files/file_facts.h"
#include "io/files/folder.h"
#include "io/files/git_index.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

constexpr std::size_t kMaxMoved = 256U << 20U;
constexpr std::chrono::seconds kLookAgain{1};

/// The last lines of a file, at most `max_bytes` of them.
Result<std::string> last_lines(int fd, std::size_t max_bytes, const std::string& where) {
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return system_error(errno, "cannot be looked at", where);
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size <= max_bytes)
    // The file may have grown since `stat`.
    return read_all(fd, 2 * max_bytes, where);
  auto bytes = read_at(fd, max_bytes, size - max_bytes, where);
  if (bytes)
    bytes->erase(0, std::min(bytes->find('\n'), bytes->size() - 1) + 1);
  return bytes;
}

/// Whether the path is a link to a folder elsewhere. A link to a folder in the same folder, such as
/// `latest`, does not count.
bool leads_to_folder(int root, const std::string& path) {
  struct stat info {};
  struct stat above {};
  struct stat beside {};
  const std::string folder = split_path(path).folder;
  if (fstatat(root, path.c_str(), &info, 0) != 0 || !S_ISDIR(info.st_mode))
    return false;
  return fstatat(root, (path + "/..").c_str(), &above, 0) != 0 ||
         fstatat(root, folder.empty() ? "." : folder.c_str(), &beside, 0) != 0 ||
         above.st_dev != beside.st_dev || above.st_ino != beside.st_ino;
}

/// The root may be back in a moment. If another folder is there now, baton looks at that one first.
tl::unexpected<Error> root_is_away(const std::string& path) {
  return fail(
      Errc::away,
      "waits for the root: it does not exist, or it is an empty folder, perhaps without its volume "
      "mounted. If the empty folder is right, put any file into it; baton sees it within a minute",
      path);
}

class RealDisk final : public Disk {
 public:
  explicit RealDisk(std::shared_ptr<RootFolder> root) : root_(std::move(root)) {}
  ~RealDisk() override { displaced_.remove_unchanged(root_->fd()); }

  Result<FileBytes> read(const std::string& path, std::size_t max_bytes) override {
    return read_part(path, [&](int fd) { return read_all(fd, max_bytes, path); });
  }
  Result<FileBytes> read_end(const std::string& path, std::size_t max_bytes) override {
    return read_part(path, [&](int fd) { return last_lines(fd, max_bytes, path); });
  }
  Result<FileBytes> read_outside(const std::string& folder, const std::string& path,
                                 std::size_t max_bytes) override;
  VersionSource source(const std::string& path, const Digest& digest, bool may_wait) override;
  Result<FileBytes> read_from(const std::string& path, std::uint64_t first,
                              std::size_t max_bytes) override {
    return read_part(path, [&](int fd) { return read_at(fd, max_bytes, first, path); });
  }
  Result<std::vector<FileEntry>> list(const std::string& folder, unsigned depth) override;
  Result<void> replace(const std::string& path, const Digest& assumes,
                       std::string_view bytes) override;
  Result<void> append(const std::string& path, std::uint64_t assumes_bytes, std::string_view bytes,
                      std::uint64_t rotate_above) override;
  Result<void> create(const std::string& path, std::string_view bytes) override;
  Result<void> make_last(const std::string& path, std::string_view bytes) override;
  Result<void> move(const std::string& from, const Digest& assumes, const std::string& to) override;
  bool hold(const std::set<std::string>& paths) override;
  bool keeps_old(Time now) override { return displaced_.any(now); }
  std::vector<LateWrite> late_writes(Time now) override {
    return displaced_.late_writes(root_->fd(), now);
  }
  void late_noted(const LateWrite& write) override {
    displaced_.remove_saved(root_->fd(), write.kept);
  }

 private:
  /// The folder of the file to write. If the root was renamed or removed, the folder that its path
  /// leads to counts.
  Result<Fd> folder_of(const SplitPath& at) const {
    if (!root_->is_current())
      return root_is_away(at.folder);
    return safe_open(root_->fd(), at.folder, O_RDONLY | O_DIRECTORY);
  }
  bool root_is_there() const { return root_->is_current() && !root_->may_be_unmounted(); }
  /// The error of a write that found its file missing.
  tl::unexpected<Error> gone(const std::string& path) const {
    return root_is_there() ? fail(Errc::changed, "is gone", path) : root_is_away(path);
  }
  Result<void> may_read(int fd, const std::string& path) const;
  template <typename Read>
  Result<FileBytes> read_part(const std::string& path, const Read& read_bytes);
  template <typename Read>
  static Result<FileBytes> with_facts(int fd, const Read& read_bytes);
  bool hold(const std::string& path);

  std::shared_ptr<RootFolder> root_;
  DisplacedFiles displaced_;
  LockBudget patience_;
  std::map<std::string, Fd> held_;
  /// held lock files that were gone and that `create` made again
  std::set<std::string> made_anew_;
  std::chrono::steady_clock::time_point looked_;
};

bool RealDisk::hold(const std::set<std::string>& paths) {
  const auto let_go =
      std::erase_if(held_, [&](const auto& row) { return !paths.contains(row.first); });
  // There may be a thousand locked files. Look for replaced ones only when no other lock is needed,
  // and then once in a while.
  const auto now = std::chrono::steady_clock::now();
  const bool same = let_go == 0 && held_.size() == paths.size();
  const bool all = same || now - looked_ >= kLookAgain;
  looked_ = all ? now : looked_;
  bool free = true;
  for (const std::string& path : paths)
    if (all || !held_.contains(path) || made_anew_.contains(path))
      free = hold(path) && free;
  made_anew_.clear();
  return free;
}

bool RealDisk::hold(const std::string& path) {
  const SplitPath at = split_path(path);
  const auto folder = folder_of(at);
  if (!folder)
    return true;
  // A file that was replaced since is a different file.
  if (const auto known = held_.find(path);
      known != held_.end() && name_leads_to(folder->get(), at.name, known->second.get()))
    return true;
  held_.erase(path);
  Fd file(openat(folder->get(), at.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file)
    return true;
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return errno != EWOULDBLOCK;
  if (!name_leads_to(folder->get(), at.name, file.get()))
    return false;  // another process was just replacing it
  held_.emplace(path, std::move(file));
  return true;
}

// Another user may have made a hard link here to a file that he cannot read but we can.
Result<void> RealDisk::may_read(int fd, const std::string& path) const {
  struct stat file {};
  struct stat root {};
  if (fstat(fd, &file) != 0 || fstat(root_->fd(), &root) != 0)
    return system_error(errno, "cannot be looked at", path);
  const uid_t self = geteuid();
  const bool ours = file.st_uid == root.st_uid || (self != 0 && file.st_uid == self);
  if (file.st_nlink > 1 && !ours)
    return fail(Errc::denied, "is a hard link to a file of another user", path);
  return {};
}

template <typename Read>
Result<FileBytes> RealDisk::read_part(const std::string& path, const Read& read_bytes) {
  if (!root_->is_current())
    return root_is_away(path);
  const auto fd = open_regular(root_->fd(), path, O_RDONLY);
  if (!fd)
    return fd.error().code == Errc::not_found && !root_is_there() ? root_is_away(path)
                                                                  : tl::unexpected(fd.error());
  if (auto fine = may_read(fd->get(), path); !fine)
    return pass_on(fine);
  return with_facts(fd->get(), read_bytes);
}

Result<FileBytes> RealDisk::read_outside(const std::string& folder, const std::string& path,
                                         std::size_t max_bytes) {
  auto held = open_folder(folder);
  if (!held)
    return pass_on(held);
  auto fd = open_regular(held->get(), path, O_RDONLY);
  if (!fd)
    return pass_on(fd);
  return with_facts(fd->get(), [&](int file) { return read_all(file, max_bytes, path); });
}

template <typename Read>
Result<FileBytes> RealDisk::with_facts(int fd, const Read& read_bytes) {
  // Take the stamp before the bytes: a write in between then gives a different stamp.
  struct stat info {};
  const bool seen = fstat(fd, &info) == 0;
  const Stamp stamp = seen ? stamp_of(info) : 0;
  const FileIdentity identity = identity_of(fd);
  Result<std::string> bytes = read_bytes(fd);
  if (!bytes)
    return pass_on(bytes);
  const Digest digest = digest_of(*bytes);
  return FileBytes{.bytes = std::move(*bytes),
                   .digest = digest,
                   .stamp = stamp,
                   .identity = identity,
                   .changed = Time(Millis(seen ? nanoseconds(info.st_ctim) / 1'000'000 : 0)),
                   .size_bytes = seen ? static_cast<std::uint64_t>(info.st_size) : 0};
}

VersionSource RealDisk::source(const std::string& path, const Digest& digest, bool may_wait) {
  const auto fd = open_regular(root_->fd(), path, O_RDONLY);
  struct stat info {};
  if (!fd || fstat(fd->get(), &info) != 0)
    return VersionSource::other;
  const auto bytes = read_all(fd->get(), static_cast<std::size_t>(info.st_size), path);
  if (!bytes || digest_of(*bytes) != digest)
    return VersionSource::other;
  // The path of the root may contain links.
  std::error_code error;
  const auto file =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd->get()), error);
  return error ? VersionSource::other : git_source_of(file.string(), info, *bytes, may_wait);
}

Result<std::vector<FileEntry>> RealDisk::list(const std::string& folder, unsigned depth) {
  std::vector<FileEntry> found;
  if (!root_is_there())
    return root_is_away("");
  Walk walk;
  walk.file = [&](std::string path) {
    if (displaced_.add_found(path))
      return;
    struct stat info {};
    const bool seen = fstatat(root_->fd(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    const Stamp stamp = seen ? stamp_of(info) : 0;
    const bool passes_over = seen && S_ISLNK(info.st_mode) && leads_to_folder(root_->fd(), path);
    found.push_back(FileEntry{std::move(path), stamp, false,
                              passes_over ? "is a symbolic link to a folder" : ""});
  };
  walk.closed = [&](const std::string& path, const Error& why) {
    const auto told = std::find_if(found.rbegin(), found.rend(),
                                   [&](const FileEntry& each) { return each.path == path; });
    if (told != found.rend())
      told->closed = why.message;
  };
  walk.below = [&](std::string path) { found.push_back(FileEntry{std::move(path), 0, true}); };
  auto walked = walk_files(root_->fd(), folder, depth, walk);
  if (!walked)
    return pass_on(walked);
  return found;
}

Result<void> RealDisk::make_last(const std::string& path, std::string_view bytes) {
  if (auto fine = check_relative(path); !fine)
    return fine;
  const SplitPath at = split_path(path);
  const auto folder = folder_of(at);
  const auto fd = folder ? open_regular(folder->get(), at.name, O_RDONLY)
                         : Result<Fd>(tl::unexpected(folder.error()));
  if (!fd)
    return fd.error().code == Errc::not_found ? gone(path) : tl::unexpected(fd.error());
  const auto there = read_all(fd->get(), bytes.size(), path);
  if (!there && there.error().code != Errc::too_large)
    return tl::unexpected(there.error());
  if (!there || *there != bytes)
    return fail(Errc::changed, "was changed meanwhile", path);
  if (auto synced = sync(fd->get(), path); !synced)
    return synced;
  return sync(folder->get(), path);
}

Result<void> RealDisk::replace(const std::string& path, const Digest& assumes,
                               std::string_view bytes) {
  if (auto fine = check_relative(path); !fine)
    return fine;
  const SplitPath at = split_path(path);
  const auto folder = folder_of(at);
  if (!folder && folder.error().code == Errc::not_found)
    return gone(path);
  if (!folder)
    return tl::unexpected(folder.error());
  const auto held = held_.find(path);
  auto displaced =
      exchange(folder->get(), at.name, {.where = path, .assumes = assumes, .bytes = bytes},
               patience_, held == held_.end() ? -1 : held->second.get());
  if (!displaced)
    return pass_on(displaced);
  if (!displaced->empty())
    displaced_.add(path, join_path(at.folder, *displaced), assumes);
  return {};
}

Result<void> RealDisk::append(const std::string& path, std::uint64_t assumes_bytes,
                              std::string_view bytes, std::uint64_t rotate_above) {
  if (auto fine = check_relative(path); !fine)
    return fine;
  const SplitPath at = split_path(path);
  const auto folder = folder_of(at);
  const auto fd = folder ? open_locked(folder->get(), at.name, O_RDWR | O_APPEND, path, patience_)
                         : Result<Fd>(tl::unexpected(folder.error()));
  if (!fd && fd.error().code == Errc::not_found)
    return assumes_bytes == 0 || assumes_bytes == kAtEnd ? create(path, bytes) : gone(path);
  if (!fd)
    return tl::unexpected(fd.error());
  struct stat before {};
  if (fstat(fd->get(), &before) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (assumes_bytes != kAtEnd && static_cast<std::uint64_t>(before.st_size) != assumes_bytes)
    return fail(Errc::changed, "was changed meanwhile", path);
  // If the name is taken by a folder, the file grows on: its lines are worth more.
  if (assumes_bytes == kAtEnd && rotate_above > 0 && before.st_size > 0 &&
      static_cast<std::uint64_t>(before.st_size) + bytes.size() > rotate_above &&
      renameat(folder->get(), at.name.c_str(), folder->get(), (at.name + ".1").c_str()) == 0)
    return create(path, bytes);
  // If the last line has no line feed, the appended lines would continue it.
  std::string ended;
  char last = '\n';
  if (assumes_bytes == kAtEnd && before.st_size > 0 &&
      pread(fd->get(), &last, 1, before.st_size - 1) == 1 && last != '\n') {
    ended = "\n" + std::string(bytes);
    bytes = ended;
  }
  const ssize_t put = write(fd->get(), bytes.data(), bytes.size());
  if (put == static_cast<ssize_t>(bytes.size()))
    return sync(fd->get(), path);
  const int error = put < 0 ? errno : ENOSPC;
  // Remove a partly written line. A writer without a lock may have appended more: then it stays.
  struct stat after {};
  if (put > 0 && fstat(fd->get(), &after) == 0 && after.st_size == before.st_size + put &&
      ftruncate(fd->get(), before.st_size) != 0)
    return system_error(errno, "a torn line cannot be removed", path);
  return system_error(error, "cannot be appended to", path);
}

Result<void> RealDisk::create(const std::string& path, std::string_view bytes) {
  if (auto fine = check_relative(path); !fine)
    return fine;
  if (!root_is_there())
    return root_is_away(path);
  const SplitPath at = split_path(path);
  auto folder = make_folders(root_->fd(), at.folder);
  if (!folder)
    return pass_on(folder);
  auto fresh = write_temporary(folder->get(), at.name, bytes, -1, path);
  if (!fresh)
    return pass_on(fresh);
  if (auto moved = move_new(folder->get(), fresh->name, folder->get(), at.name, path); !moved) {
    unlinkat(folder->get(), fresh->name.c_str(), 0);
    return moved;
  }
  if (held_.contains(path))
    made_anew_.insert(path);
  return sync(folder->get(), path);
}

Result<void> still(int file, const Digest& assumes, const std::string& path) {
  const auto bytes = read_all(file, kMaxMoved, path);
  if (!bytes && bytes.error().code != Errc::too_large)
    return tl::unexpected(bytes.error());
  if (!bytes || digest_of(*bytes) != assumes)
    return fail(Errc::changed, "was changed meanwhile", path);
  return {};
}

/// The file is as the decision assumed, so deciding again does not help: a person must look.
tl::unexpected<Error> refused(Error error) {
  if (error.code == Errc::changed)
    error.code = Errc::denied;
  return tl::unexpected<Error>(std::move(error));
}

Result<void> RealDisk::move(const std::string& from, const Digest& assumes, const std::string& to) {
  for (const std::string& path : {from, to}) {
    if (auto fine = check_relative(path); !fine)
      return fine;
  }
  const SplitPath source = split_path(from);
  const SplitPath target = split_path(to);
  const bool any = assumes == Digest{};
  const auto from_folder = folder_of(source);
  const auto file = from_folder
                        ? open_locked(from_folder->get(), source.name, O_RDONLY, from, patience_)
                        : Result<Fd>(tl::unexpected(from_folder.error()));
  if (!file && file.error().code == Errc::not_found)
    return any && root_is_there() ? Result<void>() : gone(from);
  if (!file)
    return tl::unexpected(file.error());
  if (!any)
    if (auto same = still(file->get(), assumes, from); !same)
      return same;
  const auto to_folder = make_folders(root_->fd(), target.folder);
  if (!to_folder)
    return tl::unexpected(to_folder.error());
  if (auto moved = move_new(from_folder->get(), source.name, to_folder->get(), target.name, to);
      !moved)
    return refused(moved.error());
  if (!name_leads_to(to_folder->get(), target.name, file->get())) {
    // Another version was renamed into place since we looked: put it back.
    if (auto back = move_new(to_folder->get(), target.name, from_folder->get(), source.name, from);
        !back && back.error().code != Errc::changed)
      return back;
    return fail(Errc::changed, "was changed meanwhile", from);
  }
  if (auto synced = sync(to_folder->get(), to); !synced)
    return synced;
  return sync(from_folder->get(), from);
}

}  // namespace

std::unique_ptr<Disk> real_disk(std::shared_ptr<RootFolder> root) {
  return std::make_unique<RealDisk>(std::move(root));
}

Result<std::unique_ptr<Disk>> real_disk(const std::string& root) {
  auto folder = RootFolder::open(root);
  if (!folder)
    return pass_on(folder);
  return real_disk(std::move(*folder));
}

}  // namespace baton
