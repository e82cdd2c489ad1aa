// SPDX-License-Identifier: Apache-2.0
#pragma once

// The folder of a root, held open. Work below it reaches this very folder, even after another
// folder took its name. The owner asks `is_current` before each step and changes folders when the
// answer is no. It also notices an empty mount point: a volume that is not mounted must not look
// like a root without files.

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

/// Shared by the disk and by the service of the root.
class RootFolder {
 public:
  /// The path itself may contain links. Errc::not_found, denied, io.
  static Result<std::shared_ptr<RootFolder>> open(std::string path);
  /// The same for a path that must not contain links, also when somebody exchanges a folder on the
  /// way for one meanwhile. Errc::not_regular: there is a link.
  static Result<std::shared_ptr<RootFolder>> open_without_links(std::string path);
  /// A root whose folder does not exist.
  static std::shared_ptr<RootFolder> absent(std::string path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  /// Whether the path still leads to the held folder, and it was not released.
  bool is_current() const;
  /// Marks the folder as not current, even if the path leads to it again later.
  void release() { released_ = true; }
  /// Uses this folder from now on.
  void hold(Fd folder);
  /// Whether this may be a mount point without its volume: the folder is empty, and the last folder
  /// with files in it was another one. Looks again at each call.
  bool may_be_unmounted();
  /// The inode number of the last folder with files in it, for a later process to `remember`.
  /// Device numbers change with each boot, so they are not used.
  ino_t inhabited() const { return inhabited_; }
  void remember(ino_t inhabited) { inhabited_ = inhabited; }
  /// Accepts this folder as the root with files.
  void accept_as_root();

 private:
  RootFolder(std::string path, Fd fd);
  std::string path_;
  Fd fd_;
  bool released_ = false;
  ino_t inhabited_;
};

/// Whether `path` leads to the open file or folder `fd`.
bool leads_to(const std::string& path, int fd);

/// Opens a folder outside any root. Errc::not_found, denied, io.
Result<Fd> open_folder(const std::string& path);
/// The same for an absolute path, name by name. Errc::not_regular: one of the names is a link.
Result<Fd> open_folder_without_links(const std::string& path);

}  // namespace baton
