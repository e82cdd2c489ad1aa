// SPDX-License-Identifier: Apache-2.0
#include "io/files/safe_open.h"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

namespace baton {

namespace {

constexpr int kAlways = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<Fd> refused(int error, const std::string& path) {
  if (error == ELOOP)
    return fail(
        Errc::not_regular,
        "leads over a symbolic link, and baton does not follow links; put the file itself there",
        path);
  if (error == EXDEV)
    return fail(Errc::not_regular, "leads out of its root or onto another mount", path);
  if (error == ENXIO || error == ENODEV)
    return fail(Errc::not_regular, "is not a regular file, and baton reads no others", path);
  return system_error(error, "cannot be opened", path);
}

int openat2_beneath(int folder, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how)));
}

// openat2 compares mounts, too. The device number does not work: on overlayfs, files and folders
// have different ones.
Result<std::uint64_t> mount_of(int fd, const std::string& path) {
  struct statx info {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  return info.stx_mnt_id;
}

// Opens one component, which must not be a link. With O_NOFOLLOW alone, a link to a folder gives
// the unclear ENOTDIR.
Result<Fd> step(int folder, const std::string& name, const std::string& path, std::uint64_t mount) {
  Fd next(openat(folder, name.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!next)
    return refused(errno, path);
  struct stat info {};
  if (fstat(next.get(), &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (S_ISLNK(info.st_mode))
    return refused(ELOOP, path);
  const auto mounted = mount_of(next.get(), path);
  if (!mounted)
    return tl::unexpected(mounted.error());
  return *mounted == mount ? Result<Fd>(std::move(next)) : refused(EXDEV, path);
}

}  // namespace

Result<void> check_relative(std::string_view path) {
  const std::string where = printable(path, 300);
  if (path.find('\0') != std::string_view::npos)
    return fail(Errc::not_regular, "path has a NUL byte", where);
  for (const std::string& name : split(path, '/')) {
    if (name.empty() || name == "." || name == "..")
      return fail(Errc::not_regular, "path is not relative to its root", where);
  }
  return {};
}

Result<Fd> safe_open_by_walking(int folder, const std::string& path, int flags, mode_t mode) {
  const auto mount = mount_of(folder, path);
  if (!mount)
    return tl::unexpected(mount.error());
  if (path == ".") {
    Fd self(openat(folder, ".", flags | kAlways | O_NOFOLLOW, mode));
    return self ? Result<Fd>(std::move(self)) : refused(errno, path);
  }
  const std::vector<std::string> names = split(path, '/');
  Fd here;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    auto next = step(here ? here.get() : folder, names[i], path, *mount);
    if (!next)
      return next;
    here = std::move(*next);
  }
  Fd last(
      openat(here ? here.get() : folder, names.back().c_str(), flags | kAlways | O_NOFOLLOW, mode));
  if (!last && errno == ENOTDIR && (flags & O_DIRECTORY) != 0) {
    if (auto link = step(here ? here.get() : folder, names.back(), path, *mount); !link)
      return link;
    return refused(ENOTDIR, path);
  }
  if (!last)
    return refused(errno, path);
  const auto opened = mount_of(last.get(), path);
  if (!opened)
    return tl::unexpected(opened.error());
  return *opened == *mount ? Result<Fd>(std::move(last)) : refused(EXDEV, path);
}

Result<Fd> safe_open(int folder, const std::string& path, int flags, mode_t mode) {
  if (!path.empty()) {
    if (auto fine = check_relative(path); !fine)
      return pass_on(fine);
  }
  const std::string name = path.empty() ? "." : path;
  // The kernel returns EAGAIN when a concurrent rename kept it from proving that the path stays
  // below.
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    // Without O_NOFOLLOW, which would turn a link to a folder into ENOTDIR.
    const int fd = openat2_beneath(folder, name, flags | kAlways, mode);
    if (fd >= 0)
      return Fd(fd);
    if (errno == ENOSYS)
      return safe_open_by_walking(folder, name, flags, mode);
    if (errno != EAGAIN && errno != EINTR)
      return refused(errno, path);
  }
  return refused(EAGAIN, path);
}

Result<Fd> open_regular(int folder, const std::string& path, int flags) {
  auto fd = safe_open(folder, path, flags);
  if (!fd)
    return fd;
  struct stat info {};
  if (fstat(fd->get(), &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (S_ISDIR(info.st_mode))
    return fail(Errc::not_regular, "is a folder where a file belongs; move it away", path);
  if (!S_ISREG(info.st_mode))
    return fail(Errc::not_regular, "is not a regular file, and baton reads no others", path);
  return fd;
}

SplitPath split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos)
    return {.folder = "", .name = path};
  return {.folder = path.substr(0, slash), .name = path.substr(slash + 1)};
}

std::string join_path(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

Result<Fd> make_folders(int folder, const std::string& path, mode_t mode) {
  constexpr int kOpen = O_RDONLY | O_DIRECTORY;
  auto there = safe_open(folder, path, kOpen);
  if (there || there.error().code != Errc::not_found)
    return there;
  Fd here;
  std::string so_far;
  for (const std::string& name : split(path, '/')) {
    const int parent = here ? here.get() : folder;
    so_far = join_path(so_far, name);
    if (mkdirat(parent, name.c_str(), mode) == 0) {
      if (auto synced = sync(parent, so_far); !synced)
        return pass_on(synced);
    } else if (errno != EEXIST) {
      return system_error(errno, "folder cannot be made", so_far);
    }
    auto next = safe_open(parent, name, kOpen);
    if (!next) {
      next.error().where = so_far;
      return next;
    }
    here = std::move(*next);
  }
  return here;
}

}  // namespace baton
