// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names that are no state files although they match a pattern: temporary files, backups, merge and
// sync conflicts, and copies that editors, shells, git and sync programs put beside a file.
// An agent must not be started for `a.tmp.json`, from which `a.json` is being made.
// It looks at names only. What the pattern itself spells is no sign: `{flow}.tmp.json` has its
// files.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace baton {

/// Which names are ignored. Of `ignore:` in the configuration.
struct IgnoredNames {
  bool usual = true;  ///< the list in docs/rules.md
  /// Shell patterns (`*`, `?`, `[ ]`) for the file's name.
  std::vector<std::string> patterns;
  bool operator==(const IgnoredNames&) const = default;
};

/// Adds the list `ignore` of the options, as far as there is one. An empty list switches
/// the usual list off.
void add_ignored(const Value& options, IgnoredNames& names);

/// Why a name is ignored.
struct IgnoredName {
  std::string why;  ///< "a temporary file (.tmp)"
  /// Empty: the name is ignored in any case. Else only while there is this file, of which it would
  /// be a copy; a path relative to the root.
  std::string beside;
  /// Only while its bytes equal those of a version of the file `beside`.
  bool while_equal = false;
  bool operator==(const IgnoredName&) const = default;
};

/// Whether a path is ignored that matches the pattern with these values of its placeholders.
/// Folders whose names have a placeholder are looked at, too.
std::optional<IgnoredName> ignored_name(const IgnoredNames& names, std::string_view pattern,
                                        std::string_view path, std::string_view flow,
                                        std::string_view part);

/// Whether a name matches a shell pattern. `?` and `[ ]` take one character of UTF-8. A `[` without
/// `]` stands for itself, and `\` makes the next character stand for itself.
bool matches_shell_pattern(std::string_view pattern, std::string_view name);

}  // namespace baton
