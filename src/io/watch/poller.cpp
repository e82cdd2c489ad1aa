// SPDX-License-Identifier: Apache-2.0
#include "io/watch/poller.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/files/folder.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

constexpr std::int64_t kYoung = 50'000'000;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

std::optional<FileState> state_of(int folder, const std::string& name, bool open_file) {
  struct stat info {};
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return {};
  if (open_file && S_ISREG(info.st_mode)) {
    const auto fd = safe_open(folder, name, O_RDONLY);
    if (fd)
      fstat(fd->get(), &info);
  }
  const std::int64_t modified = nanoseconds(info.st_mtim);
  const std::int64_t changed = nanoseconds(info.st_ctim);
  const std::int64_t age = now() - std::max(modified, changed);
  return FileState{.modified_ns = modified,
                   .changed_ns = changed,
                   .inode = info.st_ino,
                   .size_bytes = info.st_size,
                   .young = std::llabs(age) < kYoung + granularity_ns(info)};
}

// Adds the states of the files in one folder. Returns its folders.
Result<std::vector<std::string>> look_into(int root, const std::string& path, bool files_matter,
                                           bool open_files, FileStates& stamps) {
  auto folder = list_folder(root, path);
  if (!folder)
    return pass_on(folder);
  if (files_matter)
    for (const std::string& name : folder->names.files)
      if (const auto stamp = state_of(folder->fd.get(), name, open_files))
        stamps.emplace(join_path(path, name), *stamp);
  std::vector<std::string> folders;
  for (const std::string& name : folder->names.folders) {
    folders.push_back(join_path(path, name));
    if (files_matter)
      stamps.emplace(folders.back(), FileState{});
  }
  return folders;
}

}  // namespace

std::set<std::string> differences(const FileStates& before, const FileStates& after) {
  std::set<std::string> paths;
  for (const auto& [path, stamp] : before) {
    if (!after.contains(path) || stamp.young)
      paths.insert(path);
  }
  for (const auto& [path, stamp] : after) {
    const auto old = before.find(path);
    if (old == before.end() || old->second.modified_ns != stamp.modified_ns ||
        old->second.changed_ns != stamp.changed_ns || old->second.inode != stamp.inode ||
        old->second.size_bytes != stamp.size_bytes)
      paths.insert(path);
  }
  return paths;
}

Result<FileStates> stamps_of(int root, const std::set<std::string>& folders,
                             const WatchScope& scope, bool open_files) {
  FileStates stamps;
  std::vector<std::string> waiting(folders.begin(), folders.end());
  while (!waiting.empty()) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    const auto level = scope.level(path);
    if (!level)
      continue;
    const auto below = look_into(root, path, *level >= 0, open_files, stamps);
    if (below)
      waiting.insert(waiting.end(), below->begin(), below->end());
    else if (below.error().code == Errc::busy || below.error().code == Errc::io)
      return tl::unexpected(below.error());
  }
  return stamps;
}

}  // namespace baton
