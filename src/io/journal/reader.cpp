// SPDX-License-Identifier: Apache-2.0
#include "io/journal/reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include <sys/stat.h>

#include "base/text.h"
#include "io/agents/run_directory.h"
#include "io/journal/claims.h"
#include "io/journal/journal.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"
#include "io/journal/values.h"
#include "io/system/requests.h"

namespace baton {
namespace {

using sqlite::Database;
using sqlite::Statement;

std::int64_t limit_of(std::size_t limit) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, kMost));
}

Result<std::unique_ptr<Database>> open_as(const std::string& state_folder,
                                          Database::Access access) {
  auto db = Database::open(journal_path(state_folder), access);
  if (!db)
    return pass_on(db);
  auto checked = refuse_newer_journal(**db);
  if (checked)
    checked = refuse_older_journal(**db, state_folder);
  if (checked)
    checked = check_journal_version(**db);
  if (!checked)
    return pass_on(checked);
  return std::move(*db);
}

/// Whether every commit is in the main file.
bool nothing_in_wal(const std::string& path) {
  struct stat facts {};
  return stat((path + "-wal").c_str(), &facts) != 0 ? errno == ENOENT : facts.st_size == 0;
}

/// The first id after all ids that begin with `prefix`; ids are hexadecimal digits.
std::string after_prefix(const std::string& prefix) {
  return prefix + "\x7f";
}

}  // namespace

JournalReader::JournalReader(std::unique_ptr<Database> db, std::string runs)
    : db_(std::move(db)), runs_(std::move(runs)) {}
JournalReader::~JournalReader() = default;

Result<void> JournalReader::begin_snapshot() {
  return db_->in_transaction() ? Result<void>() : db_->execute("BEGIN");
}

void JournalReader::end_snapshot() {
  db_->rollback();
}

Result<Ledger> JournalReader::ledger(Time now) {
  return rows::load(*db_, now, runs_);
}

Result<bool> JournalReader::was_accepted(const std::string& path, const Digest& digest) {
  return rows::was_accepted(*db_, path, digest);
}

Result<std::string> JournalReader::bytes(const std::string& path) {
  return rows::bytes(*db_, path);
}

Result<std::vector<Event>> JournalReader::events(const EventQuery& query) {
  std::string sql = "SELECT " + std::string(rows::event_columns()) + " FROM events WHERE seq > ?";
  if (query.since)
    sql += " AND time >= ?";
  if (query.flow)
    sql += " AND dialect = ? AND flow = ?";
  for (std::size_t i = 0; i < query.words.size(); ++i)
    sql += i == 0 ? " AND event IN (?" : ", ?";
  sql += query.words.empty() ? "" : ")";
  sql += query.newest ? " ORDER BY seq DESC LIMIT ?" : " ORDER BY seq LIMIT ?";
  std::vector<Event> events;
  auto done = rows::each(
      *db_, "events", sql,
      [&](Statement& s) {
        s.add(static_cast<std::int64_t>(query.after));
        if (query.since)
          s.add(query.since->time_since_epoch().count());
        if (query.flow)
          s.add(query.flow->dialect).add(query.flow->name);
        for (const Word& word : query.words)
          s.add(word);
        s.add(limit_of(query.limit));
      },
      [&](Statement& row) { events.push_back(rows::read_event(row)); });
  if (!done)
    return pass_on(done);
  if (query.newest)
    std::reverse(events.begin(), events.end());
  return events;
}

Result<std::vector<Run>> JournalReader::runs(const RunQuery& query) {
  std::string sql =
      "SELECT " + std::string(rows::run_columns()) + " FROM runs WHERE id >= ? AND id < ?";
  if (query.flow)
    sql += " AND dialect = ? AND flow = ?";
  sql += " ORDER BY started DESC, rowid DESC LIMIT ?";
  std::vector<Run> runs;
  auto done = rows::each(
      *db_, "runs", sql,
      [&](Statement& s) {
        s.add(query.id_prefix).add(after_prefix(query.id_prefix));
        if (query.flow)
          s.add(query.flow->dialect).add(query.flow->name);
        s.add(limit_of(query.limit));
      },
      [&](Statement& row) { runs.push_back(rows::read_run(row, runs_)); });
  if (!done)
    return pass_on(done);
  std::reverse(runs.begin(), runs.end());
  return runs;
}

Result<Run> JournalReader::run(const std::string& id_prefix) {
  constexpr std::size_t kListed = 6;
  auto found = runs({.flow = {}, .id_prefix = id_prefix, .limit = kListed});
  if (!found)
    return pass_on(found);
  const std::string shown = printable(id_prefix);
  if (found->empty())
    return fail(Errc::not_found, "no run is called '" + shown + "'");
  if (found->size() == 1)
    return std::move(found->front());
  std::vector<std::string> ids;
  for (const Run& run : *found)
    ids.push_back(run.id);
  if (ids.size() == kListed)
    ids.back() = "...";
  return fail(Errc::usage, "several runs begin with '" + shown + "': " + join(ids, ", "));
}

Result<std::vector<RunCost>> JournalReader::costs(Time since) {
  std::vector<RunCost> runs;
  auto done = rows::each(
      *db_, "runs",
      "SELECT dialect, flow, role, agent, started, state, ended, cost_usd, tokens FROM runs "
      "WHERE outcome <> 'voided' AND (state <> 'ended' OR ended >= ?) ORDER BY started, rowid",
      [&](Statement& s) { s.add(since.time_since_epoch().count()); },
      [&](Statement& row) {
        RunCost run;
        run.flow.dialect = row.text();
        run.flow.name = row.text();
        run.role = row.text();
        run.agent = row.text();
        run.started = rows::read_time(row);
        const bool over = rows::read_run_state(row) == RunState::ended;
        const Time ended = rows::read_time(row);
        if (over)
          run.ended = ended;
        run.cost_usd = row.maybe_real();
        run.tokens = row.maybe_integer();
        runs.push_back(std::move(run));
      });
  if (!done)
    return pass_on(done);
  return runs;
}

Result<std::uint32_t> JournalReader::running() {
  std::int64_t count = 0;
  auto done = rows::each(
      *db_, "runs", "SELECT count(*) FROM runs WHERE state <> 'ended'", [](Statement&) {},
      [&](Statement& row) { count = row.integer(); });
  if (!done)
    return pass_on(done);
  return static_cast<std::uint32_t>(count);
}

Result<std::vector<ReplacedVersion>> JournalReader::replaced(const std::string& path) {
  std::vector<ReplacedVersion> versions;
  auto done = rows::each(
      *db_, "replaced", "SELECT time, bytes FROM replaced WHERE path = ? ORDER BY id",
      [&](Statement& s) { s.add(path); },
      [&](Statement& row) {
        const Time time{Millis(row.integer())};
        versions.push_back({time, row.blob()});
      });
  if (!done)
    return pass_on(done);
  return versions;
}

Result<std::vector<std::string>> JournalReader::damage() {
  std::vector<std::string> lines;
  auto done = rows::each(*db_, "quick_check", "PRAGMA quick_check", {},
                         [&](Statement& row) { lines.push_back(row.text()); });
  if (!done)
    return pass_on(done);
  if (lines.size() == 1 && lines.front() == "ok")
    lines.clear();
  return lines;
}

Result<std::unique_ptr<JournalReader>> read_journal(const std::string& state_folder) {
  const std::string path = journal_path(state_folder);
  if (auto usable = look_at_journal(state_folder, JournalUse::read); !usable)
    return pass_on(usable);
  auto db = open_as(state_folder, Database::Access::read);
  // If -wal and -shm are missing (a copy, or somebody removed them), SQLite must create them. If
  // this user may not, the main file has everything, unless there is a -wal with content.
  while (!db && db.error().code == Errc::no_space && release_reserve(state_folder))
    db = open_as(state_folder, Database::Access::read);
  const bool again = !db && (db.error().code == Errc::io || db.error().code == Errc::no_space) &&
                     nothing_in_wal(path);
  if (again)
    db = open_as(state_folder, Database::Access::immutable);
  if (!db) {
    if (db.error().where.empty())
      db.error().where = path;
    return pass_on(db);
  }
  return std::make_unique<JournalReader>(std::move(*db), runs_folder(state_folder));
}

}  // namespace baton
