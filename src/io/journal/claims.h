// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks, before the journal is used, that it is not older than what happened. An old copy of the
// journal, or a lost one, does not know the last runs, and baton would start their work again. Each
// started run leaves a claim in its folder, so the folders are compared with the journal.

#include <string>
#include <vector>

#include "base/result.h"
#include "io/journal/sqlite.h"

namespace baton {

/// The run folders that this journal does not know.
struct UnknownRuns {
  std::vector<std::string> claimed;    ///< ids of runs that were started
  std::vector<std::string> unclaimed;  ///< ids of runs that a daemon prepared but never committed
};

/// Errc::io, denied: the folders cannot be listed.
Result<UnknownRuns> unknown_runs(sqlite::Database& db, const std::string& state_folder);

/// A run is in the journal before it is claimed, and stays there until its folder is gone. So a
/// claimed run that the journal does not know proves that the journal is old: Errc::io, with what
/// to do. May be called beside a daemon.
Result<void> refuse_older_journal(sqlite::Database& db, const std::string& state_folder);
/// The same for a process that will write, before it opens the journal. Uses its own connection,
/// which changes nothing. Also refuses the journal of a newer baton.
Result<void> refuse_older_journal(const std::string& state_folder);

/// Call this before creating a journal. Without a journal nothing should run on the root, unless
/// its state was elsewhere, was removed, or the root had another name. Agents that still run would
/// be started a second time: Errc::io, with what to do.
Result<void> refuse_agents_without_journal(const std::string& root,
                                           const std::string& state_folder);

enum class JournalUse { read, write };

/// Looks at the journal file before SQLite does, because SQLite takes an empty file for a new
/// database. Errc::not_found: there is none, and none was lost. Errc::io: it was cut, or it is gone
/// or empty while run folders exist. Errc::not_regular, denied.
Result<void> look_at_journal(const std::string& state_folder, JournalUse use);

}  // namespace baton
