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

/// Matches a path against a pattern such as `tickets/{flow}.json`. A placeholder matches a safe
/// name (base/text.h) within one segment, so hidden and temporary files never match. A placeholder
/// that appears twice must have the same value. `loose`: see FileKind.
std::optional<PatternMatch> match_pattern(std::string_view pattern, std::string_view path,
                                          bool loose = false);

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
  };

  /// Asks each dialect for its kinds.
  static Catalog of(const std::vector<std::pair<const Dialect*, Json>>& dialects);

  std::optional<Match> match(std::string_view path) const;
  /// Matches the patterns of one entry only.
  static std::optional<Match> match_in(const Entry& entry, std::string_view path);
  /// Whether a path would match if its names were safe. Hidden and temporary files (a leading `.`,
  /// a trailing `~`) do not count.
  bool nearly(std::string_view path) const;
  /// Whether baton may write this file: a dialect names it. Never a configuration (`baton.yaml`) or
  /// what lies in `.git`, even if a pattern fits.
  bool may_write(std::string_view path) const;
  /// Whether the path is a folder that may contain files baton reads, directly or deeper.
  bool leads_on(std::string_view path) const;
  /// The message for a path for which `nearly` is true; it follows the path.
  static constexpr std::string_view kNearly =
      "would be a state file but for its name: names are at most 200 letters and digits of ASCII, "
      "`.`, `_` and `-`, and begin with a letter or digit";
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
