#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace baton {

/// Where and how a dialect's documents are backed up.
struct BackupPlan {
  std::string folder;  ///< below the root; `{flow}` in it; empty: nothing is backed up
  /// argv of a program that everything written goes through (an encryption); empty: none.
  std::vector<std::string> filter;
  /// argv of the program that undoes it.
  std::vector<std::string> undo;
  Millis keep{0};  ///< older ones are removed, but never a flow's newest; zero: never
};

/// `workflow_states/churn/backups`
std::string backup_folder(const BackupPlan& plan, std::string_view flow);
/// `STEM_20260122T100000.123Z.json.gz`, and `.enc` where a filter was at work.
std::string backup_name(std::string_view stem, Time at, bool filtered);
/// When a backup of that name was made; nothing for a name that is none.
std::optional<Time> backup_time(std::string_view name);
bool backup_filtered(std::string_view name);

}  // namespace baton
