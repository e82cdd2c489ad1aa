// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that are compiled into the binary, so that baton needs no files of its own at run time.

#include <algorithm>
#include <span>
#include <string_view>

namespace baton {

/// One file (from schemas/ or the templates), named by its path in the source tree, for example
/// `schemas/config.schema.json`. `embedded_files` is sorted by path and generated at build time.
struct EmbeddedFile {
  std::string_view path;
  std::string_view bytes;
};
std::span<const EmbeddedFile> embedded_files();

/// The bytes of one file, or nullptr.
inline const std::string_view* embedded_file(std::string_view path) {
  const auto files = embedded_files();
  const auto found =
      std::lower_bound(files.begin(), files.end(), path,
                       [](const EmbeddedFile& file, std::string_view p) { return file.path < p; });
  return found != files.end() && found->path == path ? &found->bytes : nullptr;
}

}  // namespace baton
