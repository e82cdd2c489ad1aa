// SPDX-License-Identifier: Apache-2.0
#include "io/files/exchange.h"

#include <cerrno>
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

// A process that holds a lock longer than this does not replace a file; it hangs, or wants to block
// us.
constexpr std::chrono::milliseconds kLongestLock{250};
constexpr int kRestPerWait = 20;
// baton never writes a larger file, so a larger file is not the assumed one.
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

// Puts the unexpected old version `temporary` back. `ours` is the version that we just put in
// place. If another process has written the file since, its version is the newest one and stays.
// Both files are held open for the comparison, because the kernel reuses inode numbers soon.
void put_back(int folder, const std::string& name, const std::string& temporary, const Fd& fresh) {
  auto ours = identity(fresh.get());
  Fd held;
  for (int i = 0; i < kRaces; ++i) {
    Fd back(openat(folder, temporary.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const auto goes_back = back ? identity(back.get()) : identity(folder, temporary);
    if (!goes_back || identity(folder, name) != ours)
      return drop(folder, temporary);
    if (rename2(folder, temporary, folder, name, RENAME_EXCHANGE) != 0)
      return;  // a leftover file is better than a lost one
    if (identity(folder, temporary) == ours)
      return drop(folder, temporary);
    // A newer version came in between the look and the exchange, so put that one back.
    ours = goes_back;
    held = std::move(back);
  }
}

// For file systems that cannot exchange two files, such as NFS. The old file gets a second name
// while the new one takes its place. A version that is renamed into place between our last look and
// our rename is lost.
Result<std::string> overwrite(int folder, const std::string& name, const TemporaryFile& fresh,
                              int old, const Replacement& replacement) {
  std::string displaced = temporary_name(name);
  if (linkat(folder, name.c_str(), folder, displaced.c_str(), 0) != 0)
    displaced.clear();
  const bool expected = name_leads_to(folder, displaced.empty() ? name : displaced, old) &&
                        holds(old, replacement.assumes, replacement.where);
  const bool replaced = expected && renameat(folder, fresh.name.c_str(), folder, name.c_str()) == 0;
  if (!replaced) {
    const int error = errno;
    drop(folder, fresh.name);
    if (!displaced.empty())
      drop(folder, displaced);
    if (!expected)
      return has_changed(replacement.where);
    return system_error(error, "cannot be replaced", replacement.where);
  }
  return displaced;
}

Result<std::string> swap(int folder, const std::string& name, const TemporaryFile& fresh, int old,
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
      name_leads_to(folder, fresh.name, old) && holds(old, replacement.assumes, replacement.where);
  if (expected)
    return fresh.name;
  put_back(folder, name, fresh.name, fresh.fd);
  return has_changed(replacement.where);
}

// Renames the old version so that a later process recognises it, if this one ends too early.
std::string set_aside(int folder, const std::string& name, const std::string& temporary,
                      const Digest& digest) {
  std::string displaced = displaced_name(name, digest);
  const bool moved = !temporary.empty() && !displaced.empty() &&
                     renameat(folder, temporary.c_str(), folder, displaced.c_str()) == 0;
  return moved ? displaced : temporary;
}

constexpr mode_t kPermissions = 0777;
constexpr const char* kAccessList = "system.posix_acl_access";

/// With an access list, the group bits of the mode are only the upper limit of the list, and the
/// list holds the rights of the group. In a folder with a default list, a new file gets that list.
void same_access(int fd, int like, const struct stat& old) {
  mode_t mode = old.st_mode & kPermissions;
  // Only root may change the owner. Changing only the group often works.
  const bool same_group = fchown(fd, old.st_uid, old.st_gid) == 0 ||
                          fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  constexpr std::size_t kLongest = 65536;  // the limit of the kernel
  std::string list(kLongest, '\0');
  const ssize_t size = fgetxattr(like, kAccessList, list.data(), list.size());
  if (size <= 0)
    fremovexattr(fd, kAccessList);
  const bool same_list =
      size <= 0 || (same_group && fsetxattr(fd, kAccessList, list.data(),
                                            static_cast<std::size_t>(size), 0) == 0);
  if (!same_group || !same_list)
    // the rights of the old group must not go to another group
    mode &= ~static_cast<mode_t>(S_IRWXG);
  fchmod(fd, mode);
}

}  // namespace

bool name_leads_to(int folder, const std::string& name, int fd) {
  const auto named = identity(folder, name);
  return named && named == identity(fd);
}

Result<void> LockBudget::lock(int fd, const std::string& where) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto asked = std::chrono::steady_clock::now();
  full_at_ = std::max(full_at_, asked);
  const auto left = kLongestLock - duration_cast<milliseconds>((full_at_ - asked) / kRestPerWait);
  auto locked = lock_exclusive(fd, std::max(0, static_cast<int>(left.count())), where);
  full_at_ += kRestPerWait * (std::chrono::steady_clock::now() - asked);
  return locked;
}

Result<Fd> open_locked(int folder, const std::string& name, int flags, const std::string& where,
                       LockBudget& budget) {
  for (int i = 0; i < kRaces; ++i) {
    auto fd = open_regular(folder, name, flags);
    if (!fd) {
      fd.error().where = where;
      return fd;
    }
    // Where the file system cannot lock (NFS with a descriptor for reading), the comparison must be
    // enough.
    if (auto locked = budget.lock(fd->get(), where); !locked && locked.error().code == Errc::busy)
      return pass_on(locked);
    if (name_leads_to(folder, name, fd->get()))
      return fd;
  }
  return has_changed(where);
}

Result<TemporaryFile> write_temporary(int folder, const std::string& name, std::string_view bytes,
                                      int like, const std::string& where) {
  constexpr mode_t kUsual = 0666;
  TemporaryFile fresh{.name = temporary_name(name), .fd = {}};
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
                             LockBudget& budget, int held) {
  auto old = held >= 0 && name_leads_to(folder, name, held)
                 ? Result<Fd>(Fd(fcntl(held, F_DUPFD_CLOEXEC, 0)))
                 : open_locked(folder, name, O_RDONLY, replacement.where, budget);
  if (old && !*old)
    return system_error(errno, "cannot be held", replacement.where);
  if (!old) {
    if (old.error().code == Errc::not_found)
      return fail(Errc::changed, "is gone", replacement.where);
    return pass_on(old);
  }
  if (!holds(old->get(), replacement.assumes, replacement.where))
    return has_changed(replacement.where);
  auto fresh = write_temporary(folder, name, replacement.bytes, old->get(), replacement.where);
  if (!fresh)
    return pass_on(fresh);
  auto displaced = replacement.can_exchange
                       ? swap(folder, name, *fresh, old->get(), replacement)
                       : overwrite(folder, name, *fresh, old->get(), replacement);
  if (displaced)
    displaced = set_aside(folder, name, *displaced, replacement.assumes);
  if (auto synced = sync(folder, replacement.where); displaced && !synced)
    return pass_on(synced);
  return displaced;
}

}  // namespace baton
