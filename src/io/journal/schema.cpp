// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/journal/journal.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"

namespace baton {
namespace {

// Version n is entry n-1; entries are only added. A flow is two columns; digests are hexadecimal
// text; times and durations are milliseconds. Large values are last, so that reading the other
// columns does not touch them.
constexpr std::array kMigrations = {R"sql(
CREATE TABLE documents(
  path TEXT PRIMARY KEY, dialect TEXT NOT NULL, flow TEXT NOT NULL, kind TEXT NOT NULL, part TEXT NOT NULL,
  digest TEXT NOT NULL, arrival INTEGER NOT NULL, writer TEXT NOT NULL, present INTEGER NOT NULL,
  bytes BLOB NOT NULL) STRICT;
CREATE INDEX documents_flow ON documents(dialect, flow);
CREATE TABLE rejected(
  path TEXT PRIMARY KEY, dialect TEXT NOT NULL, flow TEXT NOT NULL, digest TEXT NOT NULL,
  findings TEXT NOT NULL, time INTEGER NOT NULL) STRICT;
CREATE TABLE replaced(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, time INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE INDEX replaced_path ON replaced(path);
CREATE TABLE generations(
  dialect TEXT NOT NULL, flow TEXT NOT NULL, subject TEXT NOT NULL, stage TEXT NOT NULL,
  previous TEXT NOT NULL, generation INTEGER NOT NULL, entries INTEGER NOT NULL, since INTEGER NOT NULL,
  arrival INTEGER NOT NULL, entries_by_stage TEXT NOT NULL,
  PRIMARY KEY(dialect, flow, subject)) STRICT;
CREATE TABLE memos(
  dialect TEXT NOT NULL, flow TEXT NOT NULL, memo TEXT NOT NULL, PRIMARY KEY(dialect, flow)) STRICT;
CREATE TABLE runs(
  id TEXT PRIMARY KEY, dialect TEXT NOT NULL, flow TEXT NOT NULL, role TEXT NOT NULL,
  subject TEXT NOT NULL, generation INTEGER NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL,
  purpose TEXT NOT NULL, stage TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT NOT NULL,
  why TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL, pid INTEGER NOT NULL,
  start_ticks INTEGER NOT NULL, boot_id TEXT NOT NULL, directory TEXT NOT NULL,
  timeout INTEGER NOT NULL, idle_timeout INTEGER NOT NULL, kill_grace INTEGER NOT NULL,
  log_cap_bytes INTEGER NOT NULL, claims TEXT NOT NULL, base TEXT NOT NULL, stop_why TEXT NOT NULL,
  exit_code INTEGER, signal INTEGER NOT NULL, reason TEXT NOT NULL, forgiven INTEGER NOT NULL,
  cost_usd REAL, tokens INTEGER) STRICT;
-- The promise itself: one attempt of a key is started once. A run that never was (voided) and one an
-- operator has taken back (forgiven) leave their number free.
CREATE UNIQUE INDEX runs_once ON runs(dialect, flow, subject, generation, role, turn, attempt)
  WHERE outcome <> 'voided' AND forgiven = 0;
CREATE INDEX runs_subject ON runs(dialect, flow, subject, generation);
CREATE INDEX runs_live ON runs(state) WHERE state <> 'ended';
CREATE INDEX runs_started ON runs(started);
CREATE TABLE intents(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, path TEXT NOT NULL, assumes TEXT NOT NULL,
  assumes_bytes INTEGER NOT NULL, after TEXT NOT NULL, to_path TEXT NOT NULL, dialect TEXT NOT NULL,
  flow TEXT NOT NULL, why TEXT NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE TABLE requests(
  id TEXT PRIMARY KEY, verb TEXT NOT NULL, dialect TEXT NOT NULL, flow TEXT NOT NULL,
  subject TEXT NOT NULL, arguments TEXT NOT NULL, asked_by TEXT NOT NULL, made INTEGER NOT NULL) STRICT;
CREATE TABLE replies(
  request TEXT PRIMARY KEY, accepted INTEGER NOT NULL, message TEXT NOT NULL,
  time INTEGER NOT NULL) STRICT;
CREATE TABLE controls(
  dialect TEXT NOT NULL, flow TEXT NOT NULL, control TEXT NOT NULL, reason TEXT NOT NULL,
  why TEXT NOT NULL, since INTEGER NOT NULL, resumed_at INTEGER NOT NULL, started INTEGER NOT NULL,
  PRIMARY KEY(dialect, flow)) STRICT;
CREATE TABLE events(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, event TEXT NOT NULL,
  dialect TEXT NOT NULL, flow TEXT NOT NULL, subject TEXT NOT NULL, role TEXT NOT NULL,
  run TEXT NOT NULL, why TEXT NOT NULL) STRICT;
CREATE INDEX events_flow ON events(dialect, flow, seq);
CREATE INDEX events_time ON events(time);
INSERT INTO meta(name, value) VALUES('arrival', 0), ('intent', 0);
)sql",
                                    R"sql(
ALTER TABLE runs ADD COLUMN output TEXT NOT NULL DEFAULT '';
)sql",
                                    R"sql(
ALTER TABLE runs ADD COLUMN errors TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN duration INTEGER NOT NULL DEFAULT 0;
)sql",
                                    R"sql(
CREATE TABLE told(
  dialect TEXT NOT NULL, flow TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY(dialect, flow)) STRICT;
)sql",
                                    // The id tells where the run's folder is. Ids of forgotten
                                    // flows stay until their folders are gone: a started run
                                    // without a row would look as if the journal were an old copy.
                                    R"sql(
ALTER TABLE runs DROP COLUMN directory;
CREATE TABLE forgotten_runs(id TEXT PRIMARY KEY) STRICT;
)sql",
                                    // A digest of the row: with a flipped bit on the disk, an old
                                    // entry into a stage would look like a new one.
                                    R"sql(
ALTER TABLE generations ADD COLUMN seal TEXT NOT NULL DEFAULT '';
)sql",
                                    // A subject that returns to its previous state has not entered
                                    // a stage.
                                    R"sql(
ALTER TABLE generations ADD COLUMN earlier TEXT NOT NULL DEFAULT '';
)sql",
                                    // A run that its provider kept from its work leaves the number
                                    // of its attempt free.
                                    R"sql(
ALTER TABLE runs ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN error TEXT NOT NULL DEFAULT '';
DROP INDEX runs_once;
CREATE UNIQUE INDEX runs_once ON runs(dialect, flow, subject, generation, role, turn, attempt)
  WHERE outcome NOT IN ('voided', 'limited', 'transient', 'auth') AND forgiven = 0;
)sql",
                                    // Which files a flow has, and their former names.
                                    R"sql(
CREATE TABLE origins(
  dialect TEXT NOT NULL, flow TEXT NOT NULL, origin TEXT NOT NULL,
  PRIMARY KEY(dialect, flow)) STRICT;
)sql",
                                    // The digests of earlier versions: git and people put them
                                    // back, and copies have them.
                                    R"sql(
CREATE TABLE versions(
  path TEXT NOT NULL, digest TEXT NOT NULL, arrival INTEGER NOT NULL,
  PRIMARY KEY(path, digest)) STRICT, WITHOUT ROWID;
CREATE INDEX versions_arrival ON versions(path, arrival);
INSERT INTO versions SELECT path, digest, arrival FROM documents;
)sql",
                                    // How far the logs were read.
                                    R"sql(
CREATE TABLE logs(
  dialect TEXT NOT NULL, flow TEXT NOT NULL, logs TEXT NOT NULL,
  PRIMARY KEY(dialect, flow)) STRICT;
)sql"};

constexpr auto kNewest = static_cast<std::int64_t>(kMigrations.size());
/// The first baton that reads kNewest. It stands in the journal as a number, 200 for 0.2.0, so that
/// an older one can say what is needed.
constexpr std::int64_t kNeedsBaton = 200;
constexpr std::int64_t kFirstWithSeals = 6;

/// 0: no table yet.
Result<std::int64_t> version_of(sqlite::Database& db) {
  auto table = db.prepare("SELECT count(*) FROM sqlite_master WHERE name = 'meta'");
  if (!table)
    return pass_on(table);
  auto there = (*table)->step();
  if (!there)
    return pass_on(there);
  const bool none = (*table)->integer() == 0;
  (*table)->reset();
  if (none)
    return 0;
  auto query = db.prepare("SELECT value FROM meta WHERE name = 'schema_version'");
  if (!query)
    return pass_on(query);
  auto row = (*query)->step();
  if (!row)
    return pass_on(row);
  const std::int64_t version = *row ? (*query)->integer() : -1;
  const bool damaged = !(*query)->damage().empty() || version < 0;
  (*query)->reset();
  if (damaged)
    return fail(Errc::io,
                std::string("the journal is damaged: it has no schema version") + kBeginAnew);
  return version;
}

/// `0.2.0 or later`, as the journal says; `a newer one` if it does not.
std::string needed_baton(sqlite::Database& db) {
  auto query = db.prepare("SELECT value FROM meta WHERE name = 'needs_baton'");
  auto row = query ? (*query)->step() : tl::unexpected(query.error());
  const std::int64_t needs = row && *row ? (*query)->integer() : 0;
  if (query)
    (*query)->reset();
  if (needs <= 0)
    return "a newer one";
  constexpr std::int64_t kDigits = 100;
  return std::to_string(needs / kDigits / kDigits) + "." +
         std::to_string(needs / kDigits % kDigits) + "." + std::to_string(needs % kDigits) +
         " or later";
}

tl::unexpected<Error> newer(sqlite::Database& db, std::int64_t version) {
  return fail(Errc::newer, "the journal has version " + std::to_string(version) +
                               ", this baton knows up to " + std::to_string(kNewest) +
                               ": it was written by a newer baton; use that one (" +
                               needed_baton(db) + ")");
}

std::string copy_path(const std::string& journal, std::int64_t version) {
  return journal + ".v" + std::to_string(version);
}

/// Copies the journal with all that is committed. The copy has its name only when it is whole.
Result<void> copy_journal(sqlite::Database& db, const std::string& copy) {
  const std::string made = copy + ".new";
  if (unlink(made.c_str()) != 0 && errno != ENOENT)
    return system_error(errno, "cannot copy the journal before the upgrade", made);
  // Made first, because SQLite would use the umask.
  const Fd file(open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!file)
    return system_error(errno, "cannot copy the journal before the upgrade", made);
  auto statement = db.prepare("VACUUM INTO ?");
  auto done = statement ? (*statement)->add(made).run() : pass_on(statement);
  if (done && (fsync(file.get()) != 0 || rename(made.c_str(), copy.c_str()) != 0))
    done = system_error(errno, "cannot copy the journal before the upgrade", made);
  if (!done) {
    (void)unlink(made.c_str());
    return done;
  }
  const Fd folder(
      open(copy.substr(0, copy.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || fsync(folder.get()) != 0)
    return system_error(errno, "cannot sync the copy of the journal", copy);
  return {};
}

}  // namespace

Result<void> refuse_newer_journal(sqlite::Database& db) {
  const auto version = version_of(db);
  if (!version)
    return tl::unexpected(version.error());
  return *version > kNewest ? Result<void>(newer(db, *version)) : Result<void>();
}

std::int64_t journal_version() {
  return kNewest;
}

Result<std::optional<JournalUpgrade>> migrate_journal(sqlite::Database& db,
                                                      const std::string& path) {
  auto version = version_of(db);
  if (!version)
    return pass_on(version);
  if (*version >= kNewest)
    return std::nullopt;
  std::optional<JournalUpgrade> upgrade;
  if (*version > 0) {
    upgrade = JournalUpgrade{*version, kNewest, copy_path(path, *version)};
    if (auto copied = copy_journal(db, upgrade->copy); !copied)
      return pass_on(copied);
    for (std::int64_t other = 1; other < *version; ++other)
      (void)unlink(copy_path(path, other).c_str());
  }
  // One transaction for all versions, so that no reader sees a version in between.
  std::string sql = "BEGIN IMMEDIATE;";
  if (*version == 0)
    sql += "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;";
  for (auto next = static_cast<std::size_t>(*version); next < kMigrations.size(); ++next)
    sql += kMigrations[next];
  sql += "INSERT INTO meta(name, value) VALUES('schema_version', " + std::to_string(kNewest) +
         "), ('needs_baton', " + std::to_string(kNeedsBaton) +
         ") ON CONFLICT(name) DO UPDATE SET value = excluded.value;";
  auto done = db.execute(sql);
  if (done && *version < kFirstWithSeals)
    done = rows::seal_all(db);
  if (done)
    done = db.execute("COMMIT");
  if (!done) {
    db.rollback();
    return pass_on(done);
  }
  return upgrade;
}

Result<void> check_journal_version(sqlite::Database& db) {
  auto version = version_of(db);
  if (!version)
    return pass_on(version);
  if (*version == 0)
    return fail(Errc::not_found, "the journal is empty: no daemon has served this root yet");
  if (*version > kNewest)
    return newer(db, *version);
  if (*version < kNewest)
    return fail(Errc::io, "the journal has version " + std::to_string(*version) +
                              ", this baton reads " + std::to_string(kNewest) +
                              ": `baton run` brings it up to date");
  return {};
}

}  // namespace baton
