#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "io/fd.h"

namespace baton {

/// The folder of a root, held open: what is done below it reaches that very folder, even when
/// another one has taken its name. Shared by the disk and the service, which asks `is_current` at
/// each step and locks and reopens the new folder when the answer is no.
class RootFolder {
 public:
  /// The path itself may lead over links. Errc::not_found, denied, io.
  static Result<std::shared_ptr<RootFolder>> open(std::string path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  /// Whether the path still leads to the folder that is held.
  bool is_current() const;
  /// Holds what the path leads to now. After an error the old folder is still held.
  Result<void> reopen();

 private:
  RootFolder(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  Fd fd_;
};

/// Whether `path` leads to what `fd` is.
bool leads_to(const std::string& path, int fd);

/// Opens a folder outside any root. Errc::not_found, denied, io.
Result<Fd> open_folder(const std::string& path);

}  // namespace baton
