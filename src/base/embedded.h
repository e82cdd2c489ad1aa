#pragma once

#include <span>
#include <string_view>

namespace baton {

/// Files that are part of the binary (schemas/, adapters/, templates), by their path in the source
/// tree, for example `schemas/config.schema.json`. Sorted by path. Generated at build time.
struct EmbeddedFile {
  std::string_view path;
  std::string_view bytes;
};
std::span<const EmbeddedFile> embedded_files();

/// The bytes of one file, or nullptr.
const std::string_view* embedded_file(std::string_view path);

}  // namespace baton
