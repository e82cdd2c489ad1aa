#include "io/files/exchange.h"

#include <cerrno>
#include <cstdio>
#include <optional>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io/files/displaced_files.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

// Who holds a lock longer than this is not exchanging a file but stuck, or wants to stop us.
constexpr std::chrono::milliseconds kLockPatience{250};
constexpr int kRestPerWait = 20;
// Nothing we ever wrote is larger; a larger file is not what anybody assumed.
constexpr std::size_t kMaxCompared = 256U << 20U;
constexpr int kRaces = 100;

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity(int folder, const std::string& name) {
  struct stat info {};
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return {};
  return Identity{info.st_dev, info.st_ino};
}

std::optional<Identity> identity(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return {};
  return Identity{info.st_dev, info.st_ino};
}

int rename2(int from_folder, const std::string& from, int to_folder, const std::string& to,
            unsigned flags) {
  return static_cast<int>(
      syscall(SYS_renameat2, from_folder, from.c_str(), to_folder, to.c_str(), flags));
}

bool unsupported(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

bool holds(int fd, const Digest& digest, const std::string& where) {
  if (lseek(fd, 0, SEEK_SET) != 0)
    return false;
  const auto bytes = read_all(fd, kMaxCompared, where);
  return bytes && digest_of(*bytes) == digest;
}

void drop(int folder, const std::string& name) {
  unlinkat(folder, name.c_str(), 0);
}

tl::unexpected<Error> has_changed(const std::string& where) {
  return fail(Errc::changed, "was changed meanwhile", where);
}

// `temporary` came out and is not what was expected: it goes back. `ours` is what we believe to
// stand at the name. If somebody has written there since, theirs is the newest and ours and the old
// one are both overwritten, as they would have been without us. What files are compared by is held
// open: an inode number alone is soon given to the next file.
void put_back(int folder, const std::string& name, const std::string& temporary, const Fd& fresh) {
  auto ours = identity(fresh.get());
  Fd held;
  for (int i = 0; i < kRaces; ++i) {
    Fd back(openat(folder, temporary.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const auto goes_back = back ? identity(back.get()) : identity(folder, temporary);
    if (!goes_back || identity(folder, name) != ours)
      return drop(folder, temporary);
    if (rename2(folder, temporary, folder, name, RENAME_EXCHANGE) != 0)
      return;  // better litter than a loss; the name may be gone, then it is litter
    if (identity(folder, temporary) == ours)
      return drop(folder, temporary);
    // A still newer version slipped in between the look and the exchange, and came out: same again.
    ours = goes_back;
    held = std::move(back);
  }
}

// Network file systems cannot exchange. The old file keeps a second name while the new one takes
// its place; what somebody renames into place in the two calls between the last look and ours is
// lost.
Result<std::string> overwrite(int folder, const std::string& name, const Prewritten& fresh, int old,
                              const Replacement& replacement) {
  std::string kept = temporary_name(name);
  if (linkat(folder, name.c_str(), folder, kept.c_str(), 0) != 0)
    kept.clear();
  const bool expected = names(folder, kept.empty() ? name : kept, old) &&
                        holds(old, replacement.assumes, replacement.where);
  const bool replaced = expected && renameat(folder, fresh.name.c_str(), folder, name.c_str()) == 0;
  if (!replaced) {
    const int error = errno;
    drop(folder, fresh.name);
    if (!kept.empty())
      drop(folder, kept);
    if (!expected)
      return has_changed(replacement.where);
    return system_error(error, "cannot be replaced", replacement.where);
  }
  return kept;
}

Result<std::string> swap(int folder, const std::string& name, const Prewritten& fresh, int old,
                         const Replacement& replacement) {
  if (rename2(folder, fresh.name, folder, name, RENAME_EXCHANGE) != 0) {
    const int error = errno;
    if (unsupported(error))
      return overwrite(folder, name, fresh, old, replacement);
    drop(folder, fresh.name);
    if (error == ENOENT)
      return has_changed(replacement.where);
    return system_error(error, "cannot be exchanged", replacement.where);
  }
  const bool expected =
      names(folder, fresh.name, old) && holds(old, replacement.assumes, replacement.where);
  if (expected)
    return fresh.name;
  put_back(folder, name, fresh.name, fresh.fd);
  return has_changed(replacement.where);
}

// A name that tells the next daemon what it is, should this process end before it is settled.
std::string set_aside(int folder, const std::string& name, const std::string& temporary,
                      const Digest& digest) {
  std::string kept = displaced_name(name, digest);
  const bool moved = !temporary.empty() && !kept.empty() &&
                     renameat(folder, temporary.c_str(), folder, kept.c_str()) == 0;
  return moved ? kept : temporary;
}

constexpr mode_t kPermissions = 0777;
constexpr const char* kAccessList = "system.posix_acl_access";

/// With an access list the group bits of the mode are what all it names may at most, and the
/// group's own right stands in the list. A file made in a folder with a list for new files has one
/// of that folder's.
void same_access(int fd, int like, const struct stat& old) {
  mode_t mode = old.st_mode & kPermissions;
  // Only root may give files away; the group alone often works.
  const bool same_group = fchown(fd, old.st_uid, old.st_gid) == 0 ||
                          fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  constexpr std::size_t kLongest = 65536;  // the kernel's own bound
  std::string list(kLongest, '\0');
  const ssize_t size = fgetxattr(like, kAccessList, list.data(), list.size());
  if (size <= 0)
    fremovexattr(fd, kAccessList);
  const bool same_list =
      size <= 0 || (same_group && fsetxattr(fd, kAccessList, list.data(),
                                            static_cast<std::size_t>(size), 0) == 0);
  if (!same_group || !same_list)
    mode &= ~static_cast<mode_t>(S_IRWXG);  // what the old group might must not be another's
  fchmod(fd, mode);
}

}  // namespace

bool names(int folder, const std::string& name, int fd) {
  const auto named = identity(folder, name);
  return named && named == identity(fd);
}

Result<void> LockPatience::lock(int fd, const std::string& where) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto asked = std::chrono::steady_clock::now();
  rested_ = std::max(rested_, asked);
  const auto left = kLockPatience - duration_cast<milliseconds>((rested_ - asked) / kRestPerWait);
  auto locked = lock_exclusive(fd, std::max(0, static_cast<int>(left.count())), where);
  rested_ += kRestPerWait * (std::chrono::steady_clock::now() - asked);
  return locked;
}

Result<Fd> open_locked(int folder, const std::string& name, int flags, const std::string& where,
                       LockPatience& patience) {
  for (int i = 0; i < kRaces; ++i) {
    auto fd = open_regular(folder, name, flags);
    if (!fd) {
      fd.error().where = where;
      return fd;
    }
    // Where the file system cannot lock (NFS and a descriptor for reading) the comparison has to
    // do.
    if (auto locked = patience.lock(fd->get(), where); !locked && locked.error().code == Errc::busy)
      return pass_on(locked);
    if (names(folder, name, fd->get()))
      return fd;
  }
  return has_changed(where);
}

Result<Prewritten> prewrite(int folder, const std::string& name, std::string_view bytes, int like,
                            const std::string& where) {
  constexpr mode_t kUsual = 0666;
  Prewritten fresh{.name = temporary_name(name), .fd = {}};
  auto fd = safe_open(folder, fresh.name, O_RDWR | O_CREAT | O_EXCL, like < 0 ? kUsual : 0600);
  if (!fd) {
    fd.error().where = where;
    return pass_on(fd);
  }
  fresh.fd = std::move(*fd);
  struct stat old {};
  if (like >= 0 && fstat(like, &old) == 0)
    same_access(fresh.fd.get(), like, old);
  auto done = lock_exclusive(fresh.fd.get(), 0, where);
  if (done)
    done = write_all(fresh.fd.get(), bytes, where);
  if (done)
    done = sync(fresh.fd.get(), where);
  if (!done) {
    drop(folder, fresh.name);
    return pass_on(done);
  }
  return fresh;
}

Result<void> move_new(int from_folder, const std::string& from, int to_folder,
                      const std::string& to, const std::string& where) {
  if (rename2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0)
    return {};
  if (errno == EEXIST)
    return fail(Errc::changed, "exists already", where);
  if (!unsupported(errno))
    return system_error(errno, "cannot be put in place", where);
  if (linkat(from_folder, from.c_str(), to_folder, to.c_str(), 0) == 0) {
    drop(from_folder, from);
    return {};
  }
  if (errno == EEXIST)
    return fail(Errc::changed, "exists already", where);
  return system_error(errno, "cannot be put in place", where);
}

Result<std::string> exchange(int folder, const std::string& name, const Replacement& replacement,
                             LockPatience& patience, int held) {
  auto old = held >= 0 && names(folder, name, held)
                 ? Result<Fd>(Fd(fcntl(held, F_DUPFD_CLOEXEC, 0)))
                 : open_locked(folder, name, O_RDONLY, replacement.where, patience);
  if (old && !*old)
    return system_error(errno, "cannot be held", replacement.where);
  if (!old) {
    if (old.error().code == Errc::not_found)
      return fail(Errc::changed, "is gone", replacement.where);
    return pass_on(old);
  }
  if (!holds(old->get(), replacement.assumes, replacement.where))
    return has_changed(replacement.where);
  auto fresh = prewrite(folder, name, replacement.bytes, old->get(), replacement.where);
  if (!fresh)
    return pass_on(fresh);
  auto kept = replacement.can_exchange ? swap(folder, name, *fresh, old->get(), replacement)
                                       : overwrite(folder, name, *fresh, old->get(), replacement);
  if (kept)
    kept = set_aside(folder, name, *kept, replacement.assumes);
  if (auto synced = sync(folder, replacement.where); kept && !synced)
    return pass_on(synced);
  return kept;
}

}  // namespace baton
