#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton {

/// What `{flow}` and `{part}` stand for in a path that fits a pattern.
struct PatternMatch {
  std::string flow;
  std::string part;
  bool operator==(const PatternMatch&) const = default;
};

/// Fits a path against a pattern such as `tickets/{flow}.json`. A placeholder stands for a safe
/// name (base/text.h) within one segment; so hidden and temporary files never fit. The same
/// placeholder twice must stand for the same name. `loose`: see FileKind.
std::optional<PatternMatch> match_pattern(std::string_view pattern, std::string_view path,
                                          bool loose = false);

/// Whether some path fits both patterns.
bool patterns_overlap(std::string_view left, std::string_view right);

/// The part of a pattern before its first segment with a placeholder, and how many levels of
/// folders lie between it and the files: where to watch. `a/{flow}/b/{part}.json` → {`a`, 2}.
struct PatternFolder {
  std::string folder;
  unsigned depth = 0;
  bool operator==(const PatternFolder&) const = default;
};
PatternFolder pattern_folder(std::string_view pattern);

/// Which files belong to what: the patterns of all configured dialects. The first match wins, in
/// the order of the entries and of each dialect's kinds.
class Catalog {
 public:
  struct Entry {
    const Dialect* dialect = nullptr;
    Json options;
    std::vector<FileKind> kinds;
    std::vector<FileKind> others = {};  ///< those without a flow: known, and left alone
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
  /// The same by the patterns of one entry alone.
  static std::optional<Match> match_in(const Entry& entry, std::string_view path);
  /// Whether a path that does not match would, were its names safe ones. Hidden and temporary files
  /// (a leading `.`, a trailing `~`) do not count.
  bool nearly(std::string_view path) const;
  /// Whether it is the place of a folder in which files of a pattern lie, or folders with such.
  bool leads_on(std::string_view path) const;
  /// What is to be said of such a path, behind it.
  static constexpr std::string_view kNearly =
      "would be a state file but for its name: names are at most 200 letters and digits of ASCII, "
      "`.`, `_` and `-`, and begin with a letter or digit";
  /// Whose file a path is that matches nothing but is known; empty for all others.
  std::string known_other(std::string_view path) const;
  /// The entry that serves a flow's dialect; nullptr when it is not configured.
  const Entry* entry(std::string_view dialect) const;
  const std::vector<Entry>& entries() const { return entries_; }
  /// All folders to watch, those of somebody else's files too, without those that lie within
  /// another one.
  std::vector<PatternFolder> folders() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace baton
