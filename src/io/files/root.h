#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

/// The folder of a root, held open: what is done below it reaches that very folder, even when
/// another one has taken its name. Shared by the disk and the service, which asks `is_current` at
/// each step, and when the answer is no lets it go until there is one to hold again.
class RootFolder {
 public:
  /// The path itself may lead over links. Errc::not_found, denied, io.
  static Result<std::shared_ptr<RootFolder>> open(std::string path);
  /// One that is not there, and was let go.
  static std::shared_ptr<RootFolder> absent(std::string path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  /// Whether the path still leads to the folder that is held, and it was not let go.
  bool is_current() const;
  /// It is not current any more, even if the path leads to it again.
  void let_go() { let_go_ = true; }
  /// This is the folder from now on.
  void hold(Fd folder);
  /// Whether there is nothing in it, and the last one in which there was something was another: it
  /// may be a mount point without its volume, and what was meant for that one does not belong into
  /// it. It is looked at anew each time.
  bool may_be_bare();
  /// The inode number of that last one, for a later process to `remember`. The number of its device
  /// is another after each boot.
  ino_t inhabited() const { return inhabited_; }
  void remember(ino_t inhabited) { inhabited_ = inhabited; }
  /// Whatever was there before, this is the one.
  void move_in();

 private:
  RootFolder(std::string path, Fd fd);
  std::string path_;
  Fd fd_;
  bool let_go_ = false;
  ino_t inhabited_;
};

/// Whether `path` leads to what `fd` is.
bool leads_to(const std::string& path, int fd);

/// Opens a folder outside any root. Errc::not_found, denied, io.
Result<Fd> open_folder(const std::string& path);

}  // namespace baton
