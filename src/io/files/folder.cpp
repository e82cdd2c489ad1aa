// SPDX-License-Identifier: Apache-2.0
#include "io/files/folder.h"

#include <cerrno>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include <dirent.h>

#include "io/files/safe_open.h"

namespace baton {

namespace {

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

bool is_folder(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN)
    return entry.d_type == DT_DIR;
  struct stat info {};
  return fstatat(folder, &entry.d_name[0], &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode);
}

/// An error if something that is not a folder is in the place of the folder or of one above it.
Result<void> no_file_instead(int root, const std::string& folder) {
  for (std::size_t end = 0; end != std::string::npos && !folder.empty();) {
    end = folder.find('/', end + 1);
    const std::string path = folder.substr(0, end);
    struct stat info {};
    if (fstatat(root, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      break;
    if (!S_ISDIR(info.st_mode))
      return fail(Errc::not_regular, "is not a folder", path);
  }
  return {};
}

}  // namespace

Result<FolderNames> names_in(int folder, const std::string& where) {
  // Open the folder again: duplicates of the caller's descriptor share one read offset.
  Fd own(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own)
    return system_error(errno, "folder cannot be read", where);
  const std::unique_ptr<DIR, CloseDir> dir(fdopendir(own.get()));
  if (!dir)
    return system_error(errno, "folder cannot be read", where);
  own.release();
  FolderNames names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(dir.get());  // NOLINT(concurrency-mt-unsafe): an own DIR
    if (entry == nullptr)
      break;
    const std::string_view name = &entry->d_name[0];
    if (name == "." || name == "..")
      continue;
    (is_folder(folder, *entry) ? names.folders : names.files).emplace_back(name);
  }
  if (errno != 0 && errno != ENOENT)
    return system_error(errno, "folder cannot be read", where);
  return names;
}

Result<OpenFolder> list_folder(int root, const std::string& path) {
  auto fd = safe_open(root, path, O_RDONLY | O_DIRECTORY);
  auto names = fd ? names_in(fd->get(), path) : pass_on(fd);
  if (!names)
    return pass_on(names);
  return OpenFolder{*std::move(fd), *std::move(names)};
}

namespace {

/// A folder that cannot be listed: an error, or nothing when it may be skipped.
Result<void> unlisted(int root, const std::string& folder, bool first, const Walk& walk,
                      const Error& error) {
  const bool passed_over =
      error.code == Errc::not_found ||
      (!first && (error.code == Errc::not_regular || error.code == Errc::denied));
  if (!passed_over)
    return tl::unexpected(error);
  if (first)
    if (auto none = no_file_instead(root, folder); !none)
      return none;
  if (!first && error.code != Errc::not_found && walk.closed)
    walk.closed(folder, error);
  return {};
}

}  // namespace

Result<void> walk_files(int root, const std::string& folder, unsigned depth, const Walk& walk) {
  struct Waiting {
    std::string path;
    unsigned depth;
  };
  std::deque<Waiting> waiting{{folder, depth}};
  for (bool first = true; !waiting.empty(); first = false) {
    const Waiting here = std::move(waiting.front());
    waiting.pop_front();
    const auto listed = list_folder(root, here.path);
    if (!listed) {
      if (auto passed = unlisted(root, here.path, first, walk, listed.error()); !passed)
        return passed;
      continue;
    }
    for (const std::string& name : listed->names.files)
      walk.file(join_path(here.path, name));
    for (const std::string& name : listed->names.folders) {
      if (walk.below)
        walk.below(join_path(here.path, name));
      if (here.depth > 0)
        waiting.push_back({join_path(here.path, name), here.depth - 1});
    }
  }
  return {};
}

}  // namespace baton
