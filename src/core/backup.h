#pragma once

// Names and places of backups of a dialect's documents.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace baton {

/// Where and how documents are backed up.
struct BackupPlan {
  std::string folder;  ///< below the root, with `{flow}` in it; empty: no backups
  /// argv of a program that every backup goes through, for example an encryption; empty: none.
  std::vector<std::string> filter;
  /// argv of the program that reverses `filter`.
  std::vector<std::string> undo;
  Millis keep{0};  ///< older backups are removed, except the newest of a flow; zero: none is
};

/// `workflow_states/churn/backups`
std::string backup_folder(const BackupPlan& plan, std::string_view flow);
/// `STEM_20260122T100000.123Z.json.gz`, with `.enc` added if a filter was used.
std::string backup_name(std::string_view stem, Time at, bool filtered);
/// When a backup of that name was made; nothing if it is not the name of a backup.
std::optional<Time> backup_time(std::string_view name);
bool backup_filtered(std::string_view name);

}  // namespace baton
