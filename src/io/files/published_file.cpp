// SPDX-License-Identifier: Apache-2.0
#include "io/files/published_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/files/safe_open.h"

namespace baton {
namespace {

constexpr mode_t kPublishedMode = 0644;
constexpr std::size_t kShownBytes = 200;
constexpr std::size_t kLongestName = 240;

struct Place {
  std::string folder;
  std::string name;
  Fd fd;  ///< of the folder
};

Result<Place> open_place(const std::string& path) {
  const SplitPath at = split_path(path);
  Place place{at.folder, at.name, Fd()};
  if (place.folder.empty())
    place.folder = path.starts_with('/') ? "/" : ".";
  place.fd = Fd(open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place.fd)
    return system_error(errno, "the folder cannot be opened", place.folder);
  return place;
}

std::string kind_of(mode_t mode) {
  return S_ISLNK(mode) ? "a symbolic link" : S_ISDIR(mode) ? "a folder" : "not a regular file";
}

bool same_file(int one, int other) {
  struct stat its {};
  struct stat others {};
  return one >= 0 && fstat(one, &its) == 0 && fstat(other, &others) == 0 &&
         its.st_dev == others.st_dev && its.st_ino == others.st_ino;
}

/// Opens the file in the place. Errc::not_found: there is none.
Result<Fd> open_published(const Place& place, const std::string& path) {
  struct stat info {};
  if (fstatat(place.fd.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (!S_ISREG(info.st_mode))
    return fail(Errc::not_regular,
                "is " + kind_of(info.st_mode) +
                    ", and baton writes a regular file: remove it, or name another file",
                path);
  Fd fd(openat(place.fd.get(), place.name.c_str(),
               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd)
    return system_error(errno, "cannot be read, so it may be the file of another program", path);
  return fd;
}

/// Whether the file is one of ours, or empty.
Result<void> check_mark(int fd, const std::string& path, std::string_view mark) {
  const auto begin = read_at(fd, std::max(mark.size(), kShownBytes), 0, path);
  if (!begin)
    return tl::unexpected(begin.error());
  if (begin->empty() || begin->starts_with(mark))
    return {};
  return fail(Errc::config,
              "belongs to another program or to another configuration of baton, for it begins with "
              "\"" +
                  printable(begin->substr(0, begin->find('\n')), kShownBytes) +
                  "\": name another file, or remove this one",
              path);
}

/// A stranger who can read the file can lock it, too. That is no daemon that writes it.
bool held_by_strangers(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0)
    return false;
  const auto holders = flock_holders(file);
  return !holders.empty() && std::all_of(holders.begin(), holders.end(), [](std::int64_t pid) {
    struct stat process {};
    return pid > 0 && stat(("/proc/" + std::to_string(pid)).c_str(), &process) == 0 &&
           process.st_uid != 0 && process.st_uid != geteuid();
  });
}

/// Whether baton may put its file there: the name is free, or has a file of its own that no other
/// process keeps locked.
Result<void> check_place(const Place& place, const std::string& path, std::string_view mark,
                         int held) {
  auto fd = open_published(place, path);
  if (!fd && fd.error().code == Errc::not_found)
    return {};
  if (!fd)
    return pass_on(fd);
  if (same_file(held, fd->get()))
    return {};
  if (auto ours = check_mark(fd->get(), path, mark); !ours)
    return ours;
  if (flock(fd->get(), LOCK_EX | LOCK_NB) != 0 && !held_by_strangers(fd->get()))
    return fail(Errc::served,
                "another daemon of baton writes this file: each daemon needs a file of its own",
                path);
  return {};
}

}  // namespace

Result<void> check_published(const std::string& path, std::string_view mark) {
  auto place = open_place(path);
  if (!place)
    return pass_on(place);
  if (faccessat(AT_FDCWD, place->folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return system_error(errno, "the folder cannot be written", place->folder);
  auto fd = open_published(*place, path);
  if (!fd && fd.error().code == Errc::not_found)
    return {};
  struct stat folder {};
  struct stat file {};
  if (fd && stat(place->folder.c_str(), &folder) == 0 && fstat(fd->get(), &file) == 0 &&
      (folder.st_mode & S_ISVTX) != 0 && geteuid() != 0 && folder.st_uid != geteuid() &&
      file.st_uid != geteuid())
    return fail(Errc::config, "belongs to another user, and only that user may replace it", path);
  return fd ? check_mark(fd->get(), path, mark) : pass_on(fd);
}

Result<void> PublishedFile::write(std::string_view text) {
  auto place = open_place(path_);
  if (!place)
    return pass_on(place);
  if (auto free = check_place(*place, path_, mark_, held_.get()); !free)
    return free;
  // Always the same name, so that a process that is killed here leaves one file at most.
  const std::string temporary = "." + place->name.substr(0, kLongestName) + ".tmp";
  const auto create = [&] {
    return Fd(openat(place->fd.get(), temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  };
  Fd fd = create();
  if (!fd && errno == EEXIST) {
    struct stat left {};
    const bool ours =
        fstatat(place->fd.get(), temporary.c_str(), &left, AT_SYMLINK_NOFOLLOW) == 0 &&
        left.st_uid == geteuid();
    if (!ours)
      return fail(Errc::config,
                  "is not baton's, but the name is needed to write " + printable(place->name) +
                      ": remove it, or name another file",
                  place->folder + "/" + temporary);
    errno = EEXIST;
  }
  if (!fd && errno == EEXIST && unlinkat(place->fd.get(), temporary.c_str(), 0) == 0)
    fd = create();
  if (!fd)
    return system_error(errno, "no file can be created in the folder", place->folder);
  // Before others may open it. A file system without locks is no reason to write nothing.
  (void)flock(fd.get(), LOCK_EX | LOCK_NB);
  auto done = write_all(fd.get(), text, path_);
  if (done)
    done = set_mode(fd.get(), kPublishedMode, path_);
  if (done &&
      renameat(place->fd.get(), temporary.c_str(), place->fd.get(), place->name.c_str()) != 0)
    done = system_error(errno, "cannot be put in place", path_);
  if (done)
    held_ = std::move(fd);
  else
    unlinkat(place->fd.get(), temporary.c_str(), 0);
  return done;
}

Result<void> PublishedFile::remove() {
  auto place = open_place(path_);
  if (!place)
    return pass_on(place);
  if (auto ours = check_place(*place, path_, mark_, held_.get()); !ours)
    return ours;
  if (unlinkat(place->fd.get(), place->name.c_str(), 0) != 0 && errno != ENOENT)
    return system_error(errno, "cannot be removed", path_);
  return {};
}

}  // namespace baton
