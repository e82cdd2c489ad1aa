#pragma once

#include "base/result.h"
#include "io/journal/sqlite.h"

namespace baton {

/// Errc::io for a newer version than this program knows: an older baton does not touch it.
Result<void> refuse_newer_journal(sqlite::Database& db);

/// Brings the tables of a journal to the version this program knows, one transaction per version.
Result<void> migrate_journal(sqlite::Database& db);

/// For readers, who cannot migrate. Errc::not_found: nothing was ever written into it. Errc::io:
/// the version is another one than this program's.
Result<void> check_journal_version(sqlite::Database& db);

}  // namespace baton
