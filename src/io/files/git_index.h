// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether git itself put a file in place. Git keeps in its index, for each path, which bytes it has
// and what stat(2) said of the file when git wrote or compared it. baton reads the index itself: to
// run git would run programs that the repository's configuration names.
// Source of the format: gitformat-index(5), versions 2 to 4 with SHA-1 names. Repositories with
// SHA-256 names, split and sparse indexes are not understood: then `other` is the answer.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "base/result.h"
#include "core/ports.h"
#include "io/files/fd.h"

namespace baton {

/// What the index knows of one path.
struct GitEntry {
  std::uint32_t modified_s = 0;
  std::uint32_t modified_ns = 0;  ///< 0: git did not note it
  std::uint32_t inode = 0;        ///< the low 32 bits
  std::string object;             ///< 20 bytes: the SHA-1 name of the bytes
  bool operator==(const GitEntry&) const = default;
};

/// The entry of `path` in the index that `fd` has open at its beginning. Reads no more than it
/// needs. Nothing: there is none, or the file is no index that baton understands.
std::optional<GitEntry> git_entry(int fd, std::string_view path);

/// The name that git gives to these bytes: 20 bytes.
std::string git_object_of(std::string_view bytes);

/// `file`: absolute path of a file with these bytes, of which fstat(2) said `info` before they were
/// read. `by_git`: the index of its repository names exactly these bytes and this file.
/// `under_way`, only with `may_wait`: git is at work in the repository, so its index says nothing
/// yet.
VersionSource git_source_of(const std::string& file, const struct stat& info,
                            std::string_view bytes, bool may_wait);

}  // namespace baton
