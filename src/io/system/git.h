// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks git about the next commit, for `baton validate --staged` and `baton hook`. Runs the `git`
// program; nothing here reads .git itself. git starts no other program and uses no network,
// whatever the configuration of the repository says.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton {

/// One file that the next commit adds or changes, as it stands in the index.
struct StagedFile {
  std::string path;     ///< below the top of the work tree; any bytes but NUL
  std::string blob;     ///< the id of its content
  bool regular = true;  ///< false: a symbolic link
  bool merged = true;   ///< false: a merge conflict; there are several versions and no `blob`
  bool operator==(const StagedFile&) const = default;
};

/// Parses the output of `git diff --raw -z --no-abbrev --no-renames`. Leaves out removed files and
/// submodules. Errc::parse. Pure.
Result<std::vector<StagedFile>> parse_staged(std::string_view raw);

using TakeBlob = std::function<void(std::size_t place, Result<std::string> bytes)>;

/// The git repository of the current folder, with the environment as it is (a hook has GIT_DIR and
/// GIT_INDEX_FILE).
class GitRepository {
 public:
  /// Errc::not_found: git is not installed, or the folder is in no work tree.
  static Result<GitRepository> here();

  /// The top of the work tree: absolute, without links.
  const std::string& top() const { return top_; }

  /// What the next commit adds or changes; works before the first commit too. With `paths`
  /// (relative to the current folder) only files at or below them. Errc::io.
  Result<std::vector<StagedFile>> staged(const std::vector<std::string>& paths) const;
  /// The `paths` that match nothing in the index and nothing in the last commit.
  Result<std::vector<std::string>> unknown(const std::vector<std::string>& paths) const;

  /// Reads blobs in the given order. `take` gets the index in `ids` and the bytes, or
  /// Errc::too_large or not_found. Errc::io when git itself fails.
  Result<void> read_blobs(const std::vector<std::string>& ids, std::size_t max_bytes,
                          const TakeBlob& take) const;

  /// The absolute path of the folder where git looks for hooks (core.hooksPath, or the common
  /// folder of linked work trees). It may not exist. Errc::io.
  Result<std::string> hooks_folder() const;

 private:
  explicit GitRepository(std::string top) : top_(std::move(top)) {}
  std::string top_;
};

}  // namespace baton
