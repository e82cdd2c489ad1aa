#pragma once

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

/// Folders of patterns that are there and cannot be listed: links, other mounts, what may not be
/// read or is no folder. Each is a finding of the root, told and remembered as a rejected file is;
/// what is accepted of their files stays in force, and all other folders are scanned.
class UnreadableFolders {
 public:
  using Folders = std::map<std::string, Error>;  ///< with the reason; "" is the root itself

  /// As the last scan found them.
  void found(Folders folders) { folders_ = std::move(folders); }
  /// A scan could not go on for this one; of the others nothing is known anew.
  void also(const std::string& folder, const Error& error) {
    if (!folders_)
      folders_.emplace();
    folders_->insert_or_assign(folder, error);
  }
  /// Tells what is new since it was told last, and what can be listed again.
  void tell(Draft& draft) const;
  /// Whether a path lies in one of them.
  bool hold(std::string_view path) const;
  /// The files in them that are known by their patterns alone: they are findings of their flows.
  std::set<std::string> hidden(const Catalog& catalog) const;
  /// Whether one fails for what may pass by itself.
  bool passing() const;

 private:
  std::optional<Folders> folders_;  ///< nothing before the first scan
};

/// The folders of all patterns. One that lies within another is listed with that, which passes it
/// over when it cannot be: so it is here by itself, too.
std::vector<PatternFolder> folders_to_list(const Catalog& catalog);

}  // namespace baton
