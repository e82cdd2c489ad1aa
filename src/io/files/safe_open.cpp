#include "io/files/safe_open.h"

#include <cerrno>

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
  if (error == ENOSYS)
    return fail(Errc::io, "cannot be opened: baton needs Linux 5.6 or later (openat2)", path);
  return system_error(error, "cannot be opened", path);
}

int openat2_beneath(int folder, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how)));
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
