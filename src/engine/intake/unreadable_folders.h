// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers folders that exist but cannot be listed: links, other mounts, folders without
// permission, and files in the place of a folder. baton reports each of them once, as a finding of
// the root.
// The accepted versions of files in such a folder stay in force, and baton scans all other folders.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/catalog.h"
#include "engine/state/flow_record.h"

namespace baton {

/// The folders that the last scan could not list.
class UnreadableFolders {
 public:
  using Folders = std::map<std::string, Error>;  ///< and why not; "" is the root itself

  /// Replaces all of them after a complete scan.
  void found(Folders folders) { folders_ = std::move(folders); }
  /// Adds the folder at which a scan had to stop. The scan says nothing about the others.
  void also(const std::string& folder, const Error& error) {
    if (!folders_)
      folders_.emplace();
    folders_->insert_or_assign(folder, error);
  }
  /// Adds events and findings for new ones, and an event for each that can be listed again.
  void tell(Draft& draft) const;
  /// Whether the path lies in one of these folders.
  bool hold(std::string_view path) const;
  /// The files in these folders whose patterns have no placeholders. baton looks at them, so that
  /// their flows get a finding.
  std::set<std::string> hidden(const Catalog& catalog) const;
  /// Whether one of these folders fails for a reason that may pass by itself.
  bool passing() const;

 private:
  std::optional<Folders> folders_;  ///< not set before the first scan
};

/// The folders of all patterns. A folder inside another one is listed with it, but skipped without
/// a word if it cannot be listed. So it is also in this list by itself.
std::vector<PatternFolder> folders_to_list(const Catalog& catalog);

}  // namespace baton
