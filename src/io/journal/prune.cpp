// SPDX-License-Identifier: Apache-2.0
#include "io/journal/prune.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "base/text.h"
#include "io/agents/run_directory.h"
#include "io/files/fd.h"
#include "io/journal/claims.h"
#include "io/journal/journal.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"
#include "io/system/requests.h"

namespace baton {
namespace {

using sqlite::Database;
using sqlite::Statement;

constexpr Millis kPreparing = std::chrono::hours(1);
/// Small transactions, so that a daemon never waits long.
constexpr std::int64_t kRowsPerTransaction = 2000;

/// Removes the run folders of one state folder.
class Folders {
 public:
  Folders(std::string runs, const std::function<bool(const std::string&)>& remove)
      : runs_(std::move(runs)), remove_(remove) {}

  std::string path(const std::string& run) const { return runs_ + "/" + run; }

  /// Returns false when the folder stays: a living shim holds its lock, whatever the row says.
  bool remove(const std::string& run) const {
    std::optional<Fd> lock;
    const auto directory = open_run_directory(path(run));
    if (!directory && directory.error().code == Errc::not_regular)
      return false;
    if (directory) {
      auto taken = take_run_lock(*directory);
      if (!taken || !*taken)
        return false;
      lock = std::move(*taken);
    }
    return remove_(path(run));
  }

 private:
  std::string runs_;
  const std::function<bool(const std::string&)>& remove_;
};

Result<std::size_t> affected(Database& db) {
  std::size_t rows = 0;
  auto done = rows::each(db, "changes", "SELECT changes()", {},
                         [&](Statement& row) { rows = static_cast<std::size_t>(row.integer()); });
  if (!done)
    return pass_on(done);
  return rows;
}

/// Deletes rows that are older than `age`, in small transactions.
Result<std::size_t> drop_old(Database& db, std::string_view sql, Millis age, Time now) {
  std::size_t total = 0;
  if (age == Millis::zero())
    return total;
  for (;;) {
    const std::int64_t oldest = (now - age).time_since_epoch().count();
    if (auto done = rows::run(db, sql, oldest, kRowsPerTransaction); !done)
      return pass_on(done);
    auto rows = affected(db);
    if (!rows)
      return pass_on(rows);
    total += *rows;
    if (*rows < static_cast<std::size_t>(kRowsPerTransaction))
      return total;
  }
}

Result<std::vector<std::string>> old_runs(Database& db, const Retention& retention, Time now) {
  constexpr std::string_view kSql =
      "SELECT id FROM runs AS r WHERE state = 'ended' "
      "AND max(started, ended) <= ?1 "
      "AND NOT EXISTS(SELECT 1 FROM generations AS g WHERE g.dialect = r.dialect "
      "AND g.flow = r.flow AND g.subject = r.subject AND g.generation = r.generation "
      "AND (g.stage <> '' OR g.since > ?4)) "
      "AND NOT (reason = ?5 AND forgiven = 0) "
      "AND (ended < ?2 OR id NOT IN (SELECT id FROM runs ORDER BY started DESC, rowid DESC LIMIT "
      "?3))";
  const std::int64_t oldest = retention.runs == Millis::zero()
                                  ? std::numeric_limits<std::int64_t>::min()
                                  : (now - retention.runs).time_since_epoch().count();
  const std::int64_t most =
      retention.max_runs == 0 ? -1 : static_cast<std::int64_t>(retention.max_runs);
  const std::int64_t remembered = (now - kRemembered).time_since_epoch().count();
  const std::int64_t counted = (now - rows::kCounted).time_since_epoch().count();
  std::vector<std::string> runs;
  auto done = rows::each(
      db, "runs", kSql,
      [&](Statement& s) {
        s.add(counted).add(oldest).add(most).add(remembered).add(kCouldNotStop);
      },
      [&](Statement& row) {
        std::string id = row.text();
        if (!safe_name(id))  // the id becomes part of a path
          row.damaged(id);
        runs.push_back(std::move(id));
      });
  if (!done)
    return pass_on(done);
  return runs;
}

Result<std::size_t> drop_runs(Database& db, const Retention& retention, Time now,
                              const Folders& folders) {
  auto runs = old_runs(db, retention, now);
  if (!runs)
    return pass_on(runs);
  std::erase_if(*runs, [&](const std::string& run) { return !folders.remove(run); });
  auto done = db.execute("BEGIN IMMEDIATE");
  for (std::size_t i = 0; done && i < runs->size(); ++i)
    done = rows::run(db, "DELETE FROM runs WHERE id = ? AND state = 'ended'", (*runs)[i]);
  if (done)
    done = db.execute("COMMIT");
  if (!done) {
    db.rollback();
    return pass_on(done);
  }
  return runs->size();
}

/// Removes folders of runs that were prepared but never committed because the daemon died. A folder
/// that is being prepared right now is younger than an hour.
Result<std::size_t> drop_strays(Database& db, const std::string& state_folder,
                                const Folders& folders) {
  auto unknown = unknown_runs(db, state_folder);
  if (!unknown)
    return pass_on(unknown);
  const std::time_t oldest =
      std::time(nullptr) - std::chrono::duration_cast<std::chrono::seconds>(kPreparing).count();
  const auto stray = [&](const std::string& run) {
    const auto directory = open_run_directory(folders.path(run));
    struct stat status {};
    return directory && fstat(directory->get(), &status) == 0 && status.st_mtime <= oldest &&
           folders.remove(run);
  };
  return static_cast<std::size_t>(
      std::count_if(unknown->unclaimed.begin(), unknown->unclaimed.end(), stray));
}

/// Removes run folders of forgotten flows, and their ids after them.
Result<std::size_t> drop_forgotten(Database& db, const Folders& folders) {
  std::vector<std::string> runs;
  auto done =
      rows::each(db, "forgotten_runs", "SELECT id FROM forgotten_runs", {}, [&](Statement& row) {
        std::string id = row.text();
        if (!safe_name(id))
          row.damaged(id);
        runs.push_back(std::move(id));
      });
  std::size_t dropped = 0;
  for (std::size_t i = 0; done && i < runs.size(); ++i) {
    if (!folders.remove(runs[i]))
      continue;
    done = rows::run(db, "DELETE FROM forgotten_runs WHERE id = ?", runs[i]);
    ++dropped;
  }
  if (!done)
    return pass_on(done);
  return dropped;
}

/// Only its row shows that an existing request file was answered. Without the row, baton would
/// carry out the request again.
Result<void> note_filed(Database& db, const std::string& state_folder) {
  auto filed = filed_requests(state_folder);
  if (!filed)
    return pass_on(filed);
  auto done =
      db.execute("PRAGMA temp_store=MEMORY; CREATE TEMP TABLE filed(id TEXT PRIMARY KEY) STRICT;");
  for (std::size_t i = 0; done && i < filed->size(); ++i)
    done = rows::run(db, "INSERT INTO temp.filed VALUES(?)", (*filed)[i]);
  return done;
}

Result<Pruned> prune(Database& db, const Retention& retention, Time now, const Folders& folders) {
  Pruned pruned;
  auto runs = drop_runs(db, retention, now, folders);
  if (!runs)
    return pass_on(runs);
  pruned.runs = *runs;
  struct Table {
    const char* sql;
    Millis age;
    std::size_t* removed;
  };
  std::size_t unreported = 0;
  for (const auto& [sql, age, removed] :
       {Table{"DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE time < ? LIMIT ?)",
              retention.events, &pruned.events},
        Table{"DELETE FROM replaced WHERE id IN (SELECT id FROM replaced WHERE time < ? LIMIT ?)",
              retention.replaced, &pruned.replaced},
        Table{"DELETE FROM replies WHERE request IN (SELECT request FROM replies WHERE time < ? "
              "AND request NOT IN (SELECT id FROM temp.filed) LIMIT ?)",
              retention.events, &unreported},
        Table{"DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE made < ? "
              "AND id NOT IN (SELECT id FROM temp.filed) LIMIT ?)",
              retention.events, &unreported}}) {
    auto count = drop_old(db, sql, age, now);
    if (!count)
      return pass_on(count);
    *removed = *count;
  }
  // A reader may keep the -wal from being cut; the next prune cuts it then. Do not wait: no process
  // could write meanwhile, and the reader may wait for a person in a pager.
  auto done = db.execute(
      "PRAGMA incremental_vacuum; PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE);");
  if (!done && done.error().code != Errc::busy)
    return pass_on(done);
  return pruned;
}

}  // namespace

Result<Pruned> prune_journal(const std::string& state_folder, const Retention& retention, Time now,
                             const std::function<bool(const std::string& directory)>& remove) {
  const std::string path = journal_path(state_folder);
  if (auto usable = look_at_journal(state_folder, JournalUse::write); !usable)
    return pass_on(usable);
  if (auto usable = refuse_older_journal(state_folder); !usable)
    return pass_on(usable);
  auto db = Database::open(path, Database::Access::write);
  if (!db)
    return pass_on(db);
  auto ready = check_journal_version(**db);
  if (ready)
    ready = (*db)->execute("PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216;");
  if (!ready) {
    if (ready.error().where.empty())
      ready.error().where = path;
    return pass_on(ready);
  }
  const Folders folders(runs_folder(state_folder), remove);
  auto strays = drop_strays(**db, state_folder, folders);
  if (!strays)
    return pass_on(strays);
  auto forgotten = drop_forgotten(**db, folders);
  if (!forgotten)
    return pass_on(forgotten);
  if (auto noted = note_filed(**db, state_folder); !noted)
    return pass_on(noted);
  auto pruned = prune(**db, retention, now, folders);
  if (pruned)
    pruned->runs += *strays + *forgotten;
  return pruned;
}

}  // namespace baton
