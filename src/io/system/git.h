#pragma once

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
  bool regular = true;  ///< else a symbolic link
  bool merged = true;   ///< else there are several versions of it, and no `blob`
  bool operator==(const StagedFile&) const = default;
};

/// Reads what `git diff --raw -z --no-abbrev --no-renames` says. What is removed and what is a
/// repository of its own are left out. Errc::parse. Pure.
Result<std::vector<StagedFile>> parse_staged(std::string_view raw);

using TakeBlob = std::function<void(std::size_t place, Result<std::string> bytes)>;

/// The git repository of the current folder, asked through `git`, with what the environment says of
/// it (in a hook GIT_DIR and GIT_INDEX_FILE).
class GitRepository {
 public:
  /// Errc::not_found: git is not there, or the folder belongs to no work tree.
  static Result<GitRepository> here();

  /// The top of the work tree: absolute, without links.
  const std::string& top() const { return top_; }

  /// What the next commit adds or changes, also before the first one. With `paths` (relative to the
  /// current folder) only those and what lies below them. Errc::io.
  Result<std::vector<StagedFile>> staged(const std::vector<std::string>& paths) const;
  /// Those of `paths` at or below which there is nothing in the index, nor was in the last commit.
  Result<std::vector<std::string>> unknown(const std::vector<std::string>& paths) const;

  /// Reads blobs in the order given; `take` gets the place of each in `ids`, and its bytes or why
  /// there are none: Errc::too_large, not_found. Errc::io when git itself fails.
  Result<void> read_blobs(const std::vector<std::string>& ids, std::size_t max_bytes,
                          const TakeBlob& take) const;

  /// Where git looks for hooks (core.hooksPath, the common folder of linked work trees): absolute.
  /// It need not exist. Errc::io.
  Result<std::string> hooks_folder() const;

 private:
  explicit GitRepository(std::string top) : top_(std::move(top)) {}
  std::string top_;
};

}  // namespace baton
