// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that baton writes for another program to read, outside of all roots, such as the metrics
// for node_exporter. The reader sees the old or the new version, never a part of one.
//
// The folder belongs to somebody else, and other programs have files there. So baton replaces only
// a file that begins as its own do, and nothing that is not a regular file. Two processes that
// would write the same file notice each other: each keeps its last version open and locked (flock).
// The lock ends with the process.

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/files/fd.h"

namespace baton {

class PublishedFile {
 public:
  /// `mark`: how all versions begin. It tells the file from those of other programs.
  PublishedFile(std::string path, std::string mark)
      : path_(std::move(path)), mark_(std::move(mark)) {}

  /// Replaces or creates the file, with the mode 0644. It is not synced: after a power cut the next
  /// process writes it anew. After an error the old file is as it was. Errors as for
  /// `check_published`, and no_space. Errc::served: another process writes it.
  Result<void> write(std::string_view text);
  /// Removes the file if it is ours. One that is not there is no error.
  Result<void> remove();

 private:
  std::string path_;
  std::string mark_;
  Fd held_;  ///< the last version, locked
};

/// What keeps `PublishedFile::write` from writing there, as far as that can be known without
/// writing: the folder is missing or may not be written, or the name is taken. An existing file has
/// to begin with `mark`, or to be empty. Errc::not_found, denied, not_regular, config (the name is
/// taken), io.
Result<void> check_published(const std::string& path, std::string_view mark);

}  // namespace baton
