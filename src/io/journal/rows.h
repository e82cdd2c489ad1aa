// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the rows of the journal: one function per table (schema.cpp has the tables).
// Writing replaces the row with the same key. Also checks and migrates the version of the tables.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/ports.h"
#include "io/journal/journal.h"
#include "io/journal/sqlite.h"

namespace baton::rows {

Result<void> write(sqlite::Database& db, const AcceptedRow& row, std::string_view bytes);
Result<void> write(sqlite::Database& db, const RejectedRow& row);
Result<void> write(sqlite::Database& db, const StageRow& row);
Result<void> write_memo(sqlite::Database& db, const FlowId& flow, const Json& memo);
/// A null value removes the row.
Result<void> write_notified(sqlite::Database& db, const FlowId& flow, const Json& notified);
Result<void> write_origin(sqlite::Database& db, const FlowId& flow, const FlowOrigin& origin);
Result<void> write_logs(sqlite::Database& db, const FlowId& flow, const FlowLogs& logs);
Result<void> write(sqlite::Database& db, const Run& row);
Result<void> write(sqlite::Database& db, const Intent& intent);
Result<void> write(sqlite::Database& db, const ControlRow& row);
Result<void> write(sqlite::Database& db, const Request& request);
Result<void> write(sqlite::Database& db, const Reply& reply, Time time);
Result<void> write(sqlite::Database& db, const Event& event);
Result<void> write_replaced(sqlite::Database& db, const std::string& path, std::string_view bytes,
                            Time time);
/// Runs a statement with these parameters.
template <class... Values>
Result<void> run(sqlite::Database& db, std::string_view sql, const Values&... values) {
  auto statement = db.prepare(sql);
  if (!statement)
    return pass_on(statement);
  ((*statement)->add(values), ...);
  return (*statement)->run();
}

/// Deletes everything about a flow but the ids of its runs, whose folders are removed later.
Result<void> forget(sqlite::Database& db, const FlowId& flow);

/// The columns of `runs` and `events` in the order of `read_run` and `read_event`.
std::string_view run_columns();
std::string_view event_columns();
/// `runs`: the folder with the folders of all runs.
Run read_run(sqlite::Statement& row, const std::string& runs);
Event read_event(sqlite::Statement& row);

using AddParameters = std::function<void(sqlite::Statement&)>;
using ReadRow = std::function<void(sqlite::Statement&)>;
/// Calls `read` for every row of a query. Errc::io for a row with wrong values; the message names
/// `table`.
Result<void> each(sqlite::Database& db, std::string_view table, std::string_view sql,
                  const AddParameters& bind, const ReadRow& read);

/// The longest period over which the engine counts starts and costs.
inline constexpr Millis kCounted = std::chrono::hours(1);

/// Compares a table with its indexes. Errc::io: they differ.
Result<void> check(sqlite::Database& db, std::string_view table);

/// Writes the seals (digests) of all stages; journals of older versions have none.
Result<void> seal_all(sqlite::Database& db);

/// Everything that Journal::load returns, of one moment. `runs`: the folder with the folders of all
/// runs.
Result<Ledger> load(sqlite::Database& db, Time now, const std::string& runs);

Result<std::string> bytes(sqlite::Database& db, const std::string& path);
Result<bool> was_accepted(sqlite::Database& db, const std::string& path, const Digest& digest);

}  // namespace baton::rows

namespace baton {

/// Errc::newer if a newer baton wrote the journal; says which version of baton can read it.
Result<void> refuse_newer_journal(sqlite::Database& db);

/// Brings the tables to the version of this program, all in one transaction. Before that it copies
/// the journal, which lies at `path`, to `PATH.vN`, with N the version it has; nothing for a new
/// journal and for one that is up to date.
Result<std::optional<JournalUpgrade>> migrate_journal(sqlite::Database& db,
                                                      const std::string& path);

/// For readers, who may not migrate. Errc::not_found: the journal is empty. Errc::newer; io: it has
/// another version than this program.
Result<void> check_journal_version(sqlite::Database& db);

}  // namespace baton
