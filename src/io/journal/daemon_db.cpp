#include "io/journal/daemon_db.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"
#include "io/journal/values.h"

namespace baton {
namespace {

using rows::flag;
using rows::millis;
using rows::read_flag;
using rows::read_small_count;
using rows::read_time;
using sqlite::Database;
using sqlite::Statement;

constexpr mode_t kFileMode = 0640;
/// Two daemons lock it for milliseconds. Whoever locks it longer must not stop the daemon's loop.
constexpr const char* kBusyTimeout = "PRAGMA busy_timeout=250";
constexpr std::int64_t kVersion = 1;
constexpr const char* kTables = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS parked(
  provider TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL, login INTEGER NOT NULL,
  since INTEGER NOT NULL, until INTEGER, times INTEGER NOT NULL, run TEXT NOT NULL, why TEXT NOT NULL,
  PRIMARY KEY(provider, account, model, login)) STRICT;
INSERT OR IGNORE INTO meta(name, value) VALUES('version', 1);
COMMIT;
)sql";

Parked read_parked(Statement& row) {
  Parked parked;
  parked.whose.provider = row.text();
  parked.whose.account = row.text();
  parked.whose.model = row.text();
  parked.login = read_flag(row);
  parked.since = read_time(row);
  if (const auto until = row.maybe_integer())
    parked.until = Time(Millis(*until));
  parked.times = read_small_count(row);
  parked.run = row.text();
  parked.why = row.text();
  return parked;
}

class DaemonDb : public Providers {
 public:
  /// An empty path: there is no file.
  DaemonDb(std::string path, bool read_only) : path_(std::move(path)), read_only_(read_only) {}

  Result<std::vector<Parked>> parked() override {
    if (auto fresh = explained(refresh()); !fresh)
      return pass_on(fresh);
    if (!read_only_)
      return rows_;
    std::vector<Parked> all = rows_;
    for (const auto& [row, is_parked] : supposed_)
      apply(row, is_parked, all);
    return all;
  }

  Result<void> park(const Parked& row) override {
    if (read_only_) {
      supposed_.emplace_back(row, true);
      return {};
    }
    return explained(write(row));
  }

  Result<void> release(const Parked& row) override {
    if (read_only_) {
      supposed_.emplace_back(row, false);
      return {};
    }
    return is_there() ? explained(erase(row)) : Result<void>();
  }

 private:
  Result<void> write(const Parked& row) {
    if (auto opened = open(); !opened)
      return opened;
    seen_ = -1;
    return rows::run(*db_, "INSERT OR REPLACE INTO parked VALUES(?,?,?,?,?,?,?,?,?)",
                     row.whose.provider, row.whose.account, row.whose.model, flag(row.login),
                     millis(row.since),
                     row.until ? std::optional(millis(*row.until)) : std::optional<std::int64_t>(),
                     std::int64_t{row.times}, row.run, row.why);
  }

  Result<void> erase(const Parked& row) {
    if (auto opened = open(); !opened)
      return opened;
    seen_ = -1;
    return rows::run(*db_,
                     "DELETE FROM parked WHERE provider=? AND account=? AND model=? AND login=?",
                     row.whose.provider, row.whose.account, row.whose.model, flag(row.login));
  }

  static void apply(const Parked& row, bool is_parked, std::vector<Parked>& rows) {
    std::erase_if(rows, [&](const Parked& each) {
      return each.whose == row.whose && each.login == row.login;
    });
    if (is_parked)
      rows.push_back(row);
  }

  /// Closes the file if it was removed, or if another one has its place.
  bool is_there() {
    struct stat facts {};
    const bool there = !path_.empty() && lstat(path_.c_str(), &facts) == 0;
    if (!there || facts.st_dev != device_ || facts.st_ino != inode_)
      db_.reset();
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
    return there;
  }

  /// What is wrong with the file, before SQLite opens it.
  Result<void> look() const {
    struct stat facts {};
    if (lstat(path_.c_str(), &facts) != 0)
      return system_error(errno, "cannot look at it", path_);
    if (!S_ISREG(facts.st_mode))
      return fail(Errc::not_regular, std::string("it is not a regular file") + kBeginAnewWithout,
                  path_);
    if (access(path_.c_str(), read_only_ ? R_OK : R_OK | W_OK) != 0)
      return fail(Errc::denied,
                  std::string("it is not ") + (read_only_ ? "readable" : "writable") +
                      " for this user; it belongs to user " + std::to_string(facts.st_uid) +
                      ": act as that user, or give each user a state_dir of their own",
                  path_);
    return {};
  }

  /// Names the process that holds the lock.
  Result<void> explained(Result<void> done) const {
    if (!done && done.error().code == Errc::busy) {
      const std::int64_t pid = lock_holder();
      done.error().message =
          pid > 0 ? "it is locked by process " + std::to_string(pid) : "another process locks it";
      done.error().message += "; end that process, or wait until it lets go";
    }
    if (!done && done.error().where.empty())
      done.error().where = path_;
    return done;
  }

  /// 0: unknown, as for processes in other containers. Between two calls this process holds no lock
  /// of the file, so closing it here releases none.
  std::int64_t lock_holder() const {
    const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return file && fcntl(file.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid
                                                                                    : 0;
  }

  /// Opens the file, and makes it if it is not there.
  Result<void> open() {
    if (!is_there()) {
      const Fd file(
          ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
      if (!file && errno != EEXIST)
        return system_error(errno, "cannot make it", path_);
      (void)is_there();
    }
    if (db_ != nullptr)
      return {};
    if (auto usable = look(); !usable)
      return usable;
    // A reader who may write rolls back what a killed writer began.
    const bool may_write = !read_only_ || access(path_.c_str(), W_OK) == 0;
    auto db = Database::open(path_, !read_only_ ? Database::Access::write
                                    : may_write ? Database::Access::look
                                                : Database::Access::read);
    if (!db)
      return pass_on(db);
    auto done = (*db)->execute(kBusyTimeout);
    std::int64_t tables = 0;
    if (done)
      done = rows::each(**db, "daemon.db", "SELECT count(*) FROM sqlite_schema", {},
                        [&](Statement& row) { tables = row.integer(); });
    // Empty: whoever made it was killed before the tables were there.
    if (done && tables == 0 && read_only_)
      return {};
    if (done && tables == 0)
      done = (*db)->execute(kTables);
    std::int64_t version = 0;
    if (done)
      done = rows::each(**db, "meta", "SELECT value FROM meta WHERE name = 'version'", {},
                        [&](Statement& row) { version = row.integer(); });
    if (!done) {
      (*db)->rollback();
      return done;
    }
    if (version != kVersion)
      return fail(Errc::io,
                  "it has version " + std::to_string(version) + ", this baton knows " +
                      std::to_string(kVersion) + ": another baton wrote it; use that one",
                  path_);
    db_ = *std::move(db);
    seen_ = -1;
    return {};
  }

  /// Reads the rows if another connection, or this one, has changed them.
  Result<void> refresh() {
    if (!is_there()) {
      rows_.clear();
      return {};
    }
    if (auto opened = open(); !opened)
      return opened;
    if (db_ == nullptr) {
      rows_.clear();
      return {};
    }
    std::int64_t now = 0;
    auto done = rows::each(*db_, "daemon.db", "PRAGMA data_version", {},
                           [&](Statement& row) { now = row.integer(); });
    if (!done || now == seen_)
      return done;
    std::vector<Parked> fresh;
    done = rows::each(*db_, "parked",
                      "SELECT provider, account, model, login, since, until, times, run, why "
                      "FROM parked ORDER BY provider, account, model, login",
                      {}, [&](Statement& row) { fresh.push_back(read_parked(row)); });
    if (done) {
      rows_ = std::move(fresh);
      seen_ = now;
    }
    return done;
  }

  const std::string path_;
  const bool read_only_;
  dev_t device_ = 0;  ///< of the file that is open
  ino_t inode_ = 0;
  std::unique_ptr<Database> db_;
  std::vector<Parked> rows_;
  std::int64_t seen_ = -1;  ///< `data_version` of `rows_`; -1: to be read again
  /// Parked (true) or released by a command that only looks.
  std::vector<std::pair<Parked, bool>> supposed_;
};

}  // namespace

std::unique_ptr<Providers> make_providers(const std::string& state_folder, bool read_only) {
  return std::make_unique<DaemonDb>(
      state_folder.substr(0, state_folder.rfind('/') + 1) + std::string(kDaemonDb), read_only);
}

std::unique_ptr<Providers> no_providers() {
  return std::make_unique<DaemonDb>("", true);
}

}  // namespace baton
