#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/journal/sqlite.h"

namespace baton {

/// The folders of runs of which this journal knows nothing.
struct UnknownRuns {
  std::vector<std::string> claimed;    ///< ids: they were started
  std::vector<std::string> unclaimed;  ///< ids: a daemon died before it committed them
};

/// Errc::io, denied: it cannot be seen which there are.
Result<UnknownRuns> unknown_runs(sqlite::Database& db, const std::string& state_folder);

/// A run is in the journal before it is claimed, and stays there until its folder is gone. So a
/// claimed one that is not shows that the journal is older than it was: it was brought back from a
/// backup, or its -wal was lost. Whatever was started since then would be started again: Errc::io,
/// with what to do. May be asked beside a daemon.
Result<void> refuse_older_journal(sqlite::Database& db, const std::string& state_folder);
/// For who is going to write into it, before he opens it: by a connection of its own that changes
/// nothing, not even when it is closed. A newer one (io/journal/schema) is refused as well.
Result<void> refuse_older_journal(const std::string& state_folder);

/// Where there is no journal yet nothing was started on the root, unless its state lay elsewhere or
/// was removed, or the root was called otherwise: what still runs then would be started once more,
/// beside it. To be asked before a journal is made there. Errc::io, with what to do.
Result<void> refuse_agents_without_journal(const std::string& root,
                                           const std::string& state_folder);

}  // namespace baton
