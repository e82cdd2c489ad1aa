// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the flow that a file belongs to. Each dialect has patterns such as `tickets/{flow}.json`.
// The catalog matches a path against the patterns of all configured dialects.
// It also says which folders to watch. It looks at names only and reads no file or folder.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton {

/// The values of `{flow}` and `{part}` in a path that matches a pattern.
struct PatternMatch {
  std::string flow;
  std::string part;
  bool operator==(const PatternMatch&) const = default;
};

/// Matches a path against a pattern such as `tickets/{flow}.json`. A placeholder matches one of
/// these names within one segment, so hidden files do not match. A placeholder that appears twice
/// must have the same value.
std::optional<PatternMatch> match_pattern(std::string_view pattern, std::string_view path,
                                          PatternNames names = PatternNames::safe);

/// The path with these values for the placeholders of a pattern. A value may contain `{part}`.
std::string path_of(std::string_view pattern, const PatternMatch& values);

/// Whether some path matches both patterns.
bool patterns_overlap(std::string_view left, std::string_view right);

/// Where to watch for a pattern: the part before its first placeholder, and how many levels of
/// folders lie between it and the files. `a/{flow}/b/{part}.json` → {`a`, 2}.
struct PatternFolder {
  std::string folder;
  unsigned depth = 0;
  bool operator==(const PatternFolder&) const = default;
};
PatternFolder pattern_folder(std::string_view pattern);

/// The patterns of all configured dialects. The first match wins, in the order of the entries and
/// of each dialect's kinds.
class Catalog {
 public:
  struct Entry {
    const Dialect* dialect = nullptr;
    Json options;
    std::vector<FileKind> kinds;
    std::vector<FileKind> others =
        {};  ///< kinds without a flow: baton knows these files and leaves them alone
    std::vector<std::string> own = {};  ///< patterns of files that are only written
  };
  struct Match {
    const Entry* entry = nullptr;
    const FileKind* kind = nullptr;
    FlowId flow;
    std::string part;
    /// The file counts only if this does not hold. The caller looks, for the catalog reads nothing.
    std::optional<IgnoredName> copy = {};
  };

  /// Asks each dialect for its kinds. The option `ignore` is for all kinds of the dialect.
  static Catalog of(const std::vector<std::pair<const Dialect*, Json>>& dialects);

  std::optional<Match> match(std::string_view path) const;
  /// Why a path that matches a pattern is ignored whatever else is there. Empty: it is not.
  std::string ignored(std::string_view path) const;
  /// Matches the patterns of one entry only.
  static std::optional<Match> match_in(const Entry& entry, std::string_view path);
  /// Why a path does not match that would with other names; the message follows the path. Empty:
  /// it matches, or it would not. Hidden and temporary files (a leading `.`, a trailing `~`) do not
  /// count.
  std::string unfit(std::string_view path) const;
  /// Whether baton may write this file: a dialect names it. Never a configuration (`baton.yaml`) or
  /// what lies in `.git`, even if a pattern fits.
  bool may_write(std::string_view path) const;
  /// Whether the path is a folder that may contain files baton reads, directly or deeper.
  bool leads_on(std::string_view path) const;
  /// The kind of a file that baton knows and leaves alone; empty for all other files.
  std::string known_other(std::string_view path) const;
  /// The entry of a dialect; nullptr if it is not configured.
  const Entry* entry(std::string_view dialect) const;
  const std::vector<Entry>& entries() const { return entries_; }
  /// All folders to watch, including those of files that baton leaves alone. The list has no folder
  /// that another folder of the list covers.
  std::vector<PatternFolder> folders() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace baton
