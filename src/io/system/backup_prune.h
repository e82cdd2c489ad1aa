#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "core/backup.h"

namespace baton {

/// Removes the backups below a root that are older than the plan keeps them, but never the newest
/// of a flow, and no file whose name is not that of a backup. How many. Errc::not_found, denied,
/// io; what was removed until then stays removed.
Result<std::size_t> prune_backups(const std::string& root, const BackupPlan& plan, Time now);

}  // namespace baton
