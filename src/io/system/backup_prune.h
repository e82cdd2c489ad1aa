// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes old backups of a root's files, as the dialect's backup plan says. Used by the daemon and
// by `baton prune`.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "core/backup.h"

namespace baton {

/// Removes the backups that are older than the plan allows. Keeps the newest backup of each flow,
/// and every file that is not named like a backup. Returns the number of removed files.
/// Errc::not_found, denied, io; files removed before the error stay removed.
Result<std::size_t> prune_backups(const std::string& root, const BackupPlan& plan, Time now);

}  // namespace baton
