// SPDX-License-Identifier: Apache-2.0
#include "io/files/root.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/text.h"
#include "io/files/folder.h"

namespace baton {

Result<Fd> open_folder(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd)
    return system_error(errno, "folder cannot be opened", path);
  return fd;
}

Result<Fd> open_folder_without_links(const std::string& path) {
  constexpr int kOpen = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd here(::open("/", O_PATH | kOpen));
  for (const std::string& name : split(path, '/')) {
    if (name.empty() || !here)
      continue;
    Fd next(openat(here.get(), name.c_str(), O_PATH | kOpen));
    const int error = errno;
    struct stat info {};
    if (!next && error == ENOTDIR &&
        fstatat(here.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
      return fail(Errc::not_regular, "a folder on the way is a symbolic link, " + name, path);
    here = std::move(next);
    errno = error;
  }
  Fd folder(here ? openat(here.get(), ".", O_RDONLY | kOpen | O_NONBLOCK) : -1);
  if (!folder)
    return system_error(errno, "folder cannot be opened", path);
  return folder;
}

bool leads_to(const std::string& path, int fd) {
  struct stat named {};
  struct stat held {};
  return stat(path.c_str(), &named) == 0 && fstat(fd, &held) == 0 && named.st_dev == held.st_dev &&
         named.st_ino == held.st_ino;
}

namespace {

ino_t inode(int folder) {
  struct stat info {};
  return fstat(folder, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

RootFolder::RootFolder(std::string path, Fd fd)
    : path_(std::move(path)), fd_(std::move(fd)), inhabited_(inode(fd_.get())) {}

Result<std::shared_ptr<RootFolder>> RootFolder::open(std::string path) {
  auto fd = open_folder(path);
  if (!fd)
    return pass_on(fd);
  return std::shared_ptr<RootFolder>(new RootFolder(std::move(path), std::move(*fd)));
}

Result<std::shared_ptr<RootFolder>> RootFolder::open_without_links(std::string path) {
  auto fd = open_folder_without_links(path);
  if (!fd)
    return pass_on(fd);
  return std::shared_ptr<RootFolder>(new RootFolder(std::move(path), std::move(*fd)));
}

std::shared_ptr<RootFolder> RootFolder::absent(std::string path) {
  std::shared_ptr<RootFolder> root(new RootFolder(std::move(path), Fd()));
  root->release();
  return root;
}

bool RootFolder::is_current() const {
  return !released_ && leads_to(path_, fd_.get());
}

bool RootFolder::may_be_unmounted() {
  if (inode(fd_.get()) == inhabited_)
    return false;
  const auto names = names_in(fd_.get(), path_);
  if (!names || (names->files.empty() && names->folders.empty()))
    return true;
  accept_as_root();
  return false;
}

void RootFolder::accept_as_root() {
  inhabited_ = inode(fd_.get());
}

void RootFolder::hold(Fd folder) {
  fd_ = std::move(folder);
  released_ = false;
  (void)may_be_unmounted();
}

}  // namespace baton
