// SPDX-License-Identifier: Apache-2.0
#pragma once

// Says where backups of a dialect's documents lie and how they are named. The name of a backup
// holds its time and says whether a filter program was used.
// Nothing here writes a file: a dialect asks for a `Backup` (core/effect.h), and the engine makes
// it.

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
  Millis keep{0};  ///< `baton prune` removes older ones, except the newest of a flow; zero: none
};

/// `workflow_states/churn/backups`
std::string backup_folder(const BackupPlan& plan, std::string_view flow);
/// `STEM_20260122T100000.123Z.json.gz`, with `.enc` added if a filter was used.
std::string backup_name(std::string_view stem, Time at, bool filtered);
/// The time in the name of a backup; nothing if it is not the name of a backup.
std::optional<Time> backup_time(std::string_view name);
bool backup_filtered(std::string_view name);

}  // namespace baton
