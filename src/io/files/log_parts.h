// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a long log part by part, so that its size does not matter.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/files/fd.h"
#include "io/files/root.h"

namespace baton {

class LogParts {
 public:
  /// A file below a root: through no link. Errors as for Disk::read.
  static Result<LogParts> below(const RootFolder& root, const std::string& path);
  /// A file outside any root. Errors as for `read_file`.
  static Result<LogParts> at(const std::string& path);

  /// The next whole lines, at most `max_bytes`; the last part may end without a line feed. Nothing:
  /// the file is over. Errc::too_large: a line is longer; io.
  Result<std::optional<std::string>> next(std::size_t max_bytes);

 private:
  LogParts(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
  std::string left_;  ///< the beginning of a line
  bool over_ = false;
};

}  // namespace baton
