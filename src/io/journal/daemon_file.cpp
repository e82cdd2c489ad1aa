// SPDX-License-Identifier: Apache-2.0
#include "io/journal/daemon_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/journal/lock_holder.h"
#include "io/journal/rows.h"

namespace baton {
namespace {

using sqlite::Database;
using sqlite::Statement;

constexpr mode_t kFileMode = 0640;
/// Two daemons lock it for milliseconds. Whoever locks it longer must not stop the daemon's loop.
constexpr const char* kBusyTimeout = "PRAGMA busy_timeout=250";
/// No write-ahead log: a person may move the file away, and a log that is left behind would be
/// taken for that of the next file.
constexpr const char* kDurable = "PRAGMA synchronous=FULL; PRAGMA journal_mode=DELETE;";
constexpr std::int64_t kVersion = 1;
constexpr const char* kTables = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS parked(
  provider TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL, login INTEGER NOT NULL,
  since INTEGER NOT NULL, until INTEGER, times INTEGER NOT NULL, run TEXT NOT NULL, why TEXT NOT NULL,
  PRIMARY KEY(provider, account, model, login)) STRICT;
CREATE TABLE IF NOT EXISTS runs(
  run TEXT PRIMARY KEY, root TEXT NOT NULL, flow TEXT NOT NULL, configuration TEXT NOT NULL,
  role TEXT NOT NULL, agent TEXT NOT NULL, rule TEXT NOT NULL, dialect TEXT NOT NULL, provider TEXT NOT NULL,
  shell INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER, cost REAL, tokens INTEGER) STRICT;
CREATE TABLE IF NOT EXISTS raises(
  configuration TEXT NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
  amount REAL NOT NULL, who TEXT NOT NULL, since INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO meta(name, value) VALUES('version', 1);
COMMIT;
)sql";

}  // namespace

std::string daemon_db_path(const std::string& state_folder) {
  return state_folder.substr(0, state_folder.rfind('/') + 1) + std::string(kDaemonDb);
}

bool DaemonFile::is_there() {
  struct stat facts {};
  const bool there = !path_.empty() && lstat(path_.c_str(), &facts) == 0;
  if (!there || facts.st_dev != device_ || facts.st_ino != inode_) {
    // That a file comes where none was is no loss.
    if (inode_ != 0)
      ++number_;
    close();
  }
  device_ = there ? facts.st_dev : 0;
  inode_ = there ? facts.st_ino : 0;
  return there;
}

void DaemonFile::close() {
  db_.reset();
  seen_ = -1;
}

/// What is wrong with the file, before SQLite opens it.
Result<void> DaemonFile::look() const {
  struct stat facts {};
  if (lstat(path_.c_str(), &facts) != 0)
    return system_error(errno, "cannot look at it", path_);
  if (!S_ISREG(facts.st_mode))
    return fail(Errc::not_regular, std::string("it is not a regular file") + kBeginAnewWithout,
                path_);
  // It gets its name only with its tables, so baton never leaves an empty one.
  if (facts.st_size == 0)
    return fail(Errc::io, std::string("daemon.db is damaged: it is empty") + kBeginAnewWithout,
                path_);
  if (access(path_.c_str(), read_only_ ? R_OK : R_OK | W_OK) != 0)
    return fail(Errc::denied,
                std::string("it is not ") + (read_only_ ? "readable" : "writable") +
                    " for this user; it belongs to user " + std::to_string(facts.st_uid) +
                    ": act as that user, or give each user a state_dir of their own",
                path_);
  return {};
}

Result<void> DaemonFile::explained(Result<void> done) const {
  if (!done && done.error().code == Errc::busy) {
    done.error().message = locked_by(path_);
  }
  if (!done && done.error().where.empty())
    done.error().where = path_;
  return done;
}

/// A database of another program is left as it is.
Result<void> DaemonFile::has_tables(Database& db) const {
  std::int64_t found = 0;
  auto done = rows::each(db, "daemon.db",
                         "SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'parked')", {},
                         [&](Statement& row) { found = row.integer(); });
  if (done && found < 2)
    return fail(Errc::io,
                std::string("daemon.db is damaged: it lacks baton's tables, as a database of "
                            "another program does") +
                    kBeginAnewWithout,
                path_);
  return done;
}

/// Makes the file with its tables under another name first: nobody sees it without them, and what
/// somebody else has made meanwhile stays.
Result<void> DaemonFile::make() const {
  const std::string made = path_ + ".new." + std::to_string(getpid());
  (void)unlink(made.c_str());
  const Fd file(
      ::open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file)
    return system_error(errno, "cannot make it", path_);
  auto done = [&]() -> Result<void> {
    auto db = Database::open(made, Database::Access::write);
    if (!db)
      return pass_on(db);
    return (*db)->execute(kTables);
  }();
  // Linked after the connection has been closed: then all is in this one file.
  if (done && link(made.c_str(), path_.c_str()) != 0 && errno != EEXIST)
    done = system_error(errno, "cannot make it", path_);
  if (!done)
    done.error().where = path_;
  for (const char* const suffix : {"", "-wal", "-shm", "-journal"})
    (void)unlink((made + suffix).c_str());
  return done;
}

Result<void> DaemonFile::open(bool make) {
  if (make && !is_there()) {
    if (auto made = this->make(); !made)
      return explained(std::move(made));
    (void)is_there();
  }
  if (auto usable = look(); !usable) {
    close();
    return usable;
  }
  if (db_ != nullptr)
    return {};
  // A reader who may write rolls back what a killed writer began.
  const bool may_write = !read_only_ || access(path_.c_str(), W_OK) == 0;
  auto db = Database::open(path_, !read_only_ ? Database::Access::write
                                  : may_write ? Database::Access::look
                                              : Database::Access::read);
  if (!db)
    return explained(tl::unexpected<Error>(db.error()));
  auto done = (*db)->execute(kBusyTimeout);
  std::int64_t version = 0;
  if (done)
    done = has_tables(**db);
  if (done)
    done = rows::each(**db, "meta", "SELECT value FROM meta WHERE name = 'version'", {},
                      [&](Statement& row) { version = row.integer(); });
  if (!done) {
    (*db)->rollback();
    return explained(std::move(done));
  }
  if (version != kVersion)
    return fail(Errc::config,
                "it has version " + std::to_string(version) + ", this baton knows " +
                    std::to_string(kVersion) + ": another baton wrote it; use that one",
                path_);
  if (!read_only_)
    if (auto ready = (*db)->execute(kDurable); !ready)
      return explained(std::move(ready));
  db_ = *std::move(db);
  seen_ = -1;
  return {};
}

Result<bool> DaemonFile::changed() {
  std::int64_t now = 0;
  auto done = rows::each(*db_, "daemon.db", "PRAGMA data_version", {},
                         [&](Statement& row) { now = row.integer(); });
  if (!done)
    return pass_on(done);
  return std::exchange(seen_, now) != now;
}

Result<bool> DaemonFile::has(const std::string& table) {
  bool found = false;
  auto done = rows::each(
      *db_, "daemon.db", "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
      [&](Statement& s) { s.add(table); }, [&](Statement& /*row*/) { found = true; });
  if (!done)
    return pass_on(done);
  return found;
}

}  // namespace baton
