// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/disk.h"
#include "io/files/folder.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

bool is_litter(const RootFolder& root, const std::string& path, std::chrono::seconds age) {
  const auto fd = safe_open(root.fd(), path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  // The change time, because a replaced file keeps its old modification time.
  return fd && fstat(fd->get(), &info) == 0 && S_ISREG(info.st_mode) &&
         std::chrono::seconds(std::time(nullptr) - info.st_ctime) >= age &&
         flock(fd->get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::size_t remove_leftovers(const RootFolder& root, const std::vector<PatternFolder>& folders,
                             std::chrono::seconds age) {
  std::size_t removed = 0;
  const auto look = [&](const std::string& path) {
    const SplitPath at = split_path(path);
    if (!is_temporary_name(at.name) || !is_litter(root, path, age))
      return;
    const auto folder = safe_open(root.fd(), at.folder, O_RDONLY | O_DIRECTORY);
    if (folder && unlinkat(folder->get(), at.name.c_str(), 0) == 0)
      ++removed;
  };
  // Ignore folders that cannot be read: leftover files do no harm.
  for (const PatternFolder& each : folders)
    (void)walk_files(root.fd(), each.folder, each.depth, Walk{look});
  return removed;
}

Result<Fd> open_file(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd)
    return system_error(errno, "cannot be opened", path);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (!S_ISREG(info.st_mode))
    return fail(Errc::not_regular, "is not a regular file, and baton reads no others", path);
  return fd;
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  auto fd = open_file(path);
  if (!fd)
    return pass_on(fd);
  return read_all(fd->get(), max_bytes, path);
}

Result<void> write_file_durably(const std::string& path, std::string_view bytes, unsigned mode) {
  const SplitPath at = split_path(path);
  std::string parent = at.folder;
  if (parent.empty())
    parent = path.starts_with('/') ? "/" : ".";
  auto folder = open_folder(parent);
  if (!folder)
    return pass_on(folder);
  const std::string temporary = temporary_name(at.name);
  const Fd fd(openat(folder->get(), temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd)
    return system_error(errno, "cannot be made", path);
  auto done = write_all(fd.get(), bytes, path);
  if (done && fchmod(fd.get(), mode) != 0)
    done = system_error(errno, "mode cannot be set", path);
  if (done)
    done = sync(fd.get(), path);
  if (done && renameat(folder->get(), temporary.c_str(), folder->get(), at.name.c_str()) != 0)
    done = system_error(errno, "cannot be put in place", path);
  if (!done) {
    unlinkat(folder->get(), temporary.c_str(), 0);
    return done;
  }
  return sync(folder->get(), path);
}

}  // namespace baton
