#pragma once

// Rows of the journal as SQLite keeps them (io/journal/schema.cpp). Writing replaces the row of the
// same identity.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/ports.h"
#include "io/journal/sqlite.h"

namespace baton::rows {

Result<void> write(sqlite::Database& db, const AcceptedRow& row, std::string_view bytes);
Result<void> write(sqlite::Database& db, const RejectedRow& row);
Result<void> write(sqlite::Database& db, const StageRow& row);
Result<void> write_memo(sqlite::Database& db, const FlowId& flow, const Json& memo);
/// What is null is dropped.
Result<void> write_notified(sqlite::Database& db, const FlowId& flow, const Json& notified);
Result<void> write(sqlite::Database& db, const Run& row);
Result<void> write(sqlite::Database& db, const Intent& intent);
Result<void> write(sqlite::Database& db, const ControlRow& row);
Result<void> write(sqlite::Database& db, const Request& request);
Result<void> write(sqlite::Database& db, const Reply& reply, Time time);
Result<void> write(sqlite::Database& db, const Event& event);
Result<void> write_replaced(sqlite::Database& db, const std::string& path, std::string_view bytes,
                            Time time);
/// Drops everything of a flow but the ids of its runs, whose folders go later.
Result<void> forget(sqlite::Database& db, const FlowId& flow);

/// Columns of `runs` and `events` in the order in which `read_run` and `read_event` take them.
std::string_view run_columns();
std::string_view event_columns();
/// `runs`: the folder in which the run's own lies.
Run read_run(sqlite::Statement& row, const std::string& runs);
Event read_event(sqlite::Statement& row);

using Bind = std::function<void(sqlite::Statement&)>;
using Read = std::function<void(sqlite::Statement&)>;
/// Calls `read` for every row of a query. A row that does not hold what it should is Errc::io;
/// `table` names it there.
Result<void> each(sqlite::Database& db, std::string_view table, std::string_view sql,
                  const Bind& bind, const Read& read);

/// The longest time over which the engine counts starts and what they cost.
inline constexpr Millis kCounted = std::chrono::hours(1);

/// Reads a table and its indexes and compares them. Errc::io: they differ.
Result<void> check(sqlite::Database& db, std::string_view table);

/// Writes the seals of all stages, which an older baton has not.
Result<void> seal_all(sqlite::Database& db);

/// Everything Journal::load gives, of one moment. `runs`: the folder in which their own lie.
Result<Ledger> load(sqlite::Database& db, Time now, const std::string& runs);

Result<std::string> bytes(sqlite::Database& db, const std::string& path);

}  // namespace baton::rows
