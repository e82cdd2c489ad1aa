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
    if (auto kept = keep(); !kept)
      return pass_on(kept);
    if (auto fresh = refresh(); !fresh)
      return pass_on(fresh);
    if (!read_only_)
      return rows_;
    std::vector<Parked> all = rows_;
    for (const auto& change : changes_)
      apply(change, all);
    return all;
  }

  void park(const Parked& row) override { changes_.push_back({row, std::nullopt}); }

  void release(const ProviderAccount& whose) override {
    if (std::any_of(rows_.begin(), rows_.end(),
                    [&](const Parked& row) { return is_of(row, whose); }) ||
        !changes_.empty())
      changes_.push_back({std::nullopt, whose});
  }

 private:
  /// Either of the two.
  struct Change {
    std::optional<Parked> park;
    std::optional<ProviderAccount> release;
  };

  static bool is_of(const Parked& row, const ProviderAccount& whose) {
    return row.whose.provider == whose.provider && row.whose.account == whose.account &&
           (row.whose.model.empty() || row.whose.model == whose.model);
  }

  static void apply(const Change& change, std::vector<Parked>& rows) {
    std::erase_if(rows, [&](const Parked& row) {
      return change.release ? is_of(row, *change.release)
                            : row.whose == change.park->whose && row.login == change.park->login;
    });
    if (change.park)
      rows.push_back(*change.park);
  }

  bool is_there() const {
    struct stat facts {};
    return !path_.empty() && stat(path_.c_str(), &facts) == 0;
  }

  Result<void> open(bool make) {
    if (db_ != nullptr)
      return {};
    if (make) {
      const int file =
          ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode);
      if (file < 0 && errno != EEXIST)
        return system_error(errno, "cannot make it", path_);
      if (file >= 0)
        close(file);
    }
    auto db = Database::open(path_, read_only_ ? Database::Access::read : Database::Access::write);
    if (!db)
      return pass_on(db);
    if (!read_only_)
      if (auto made = (*db)->execute(kTables); !made)
        return made;
    std::int64_t version = 0;
    auto read = rows::each(**db, "meta", "SELECT value FROM meta WHERE name = 'version'", {},
                           [&](Statement& row) { version = row.integer(); });
    if (!read)
      return read;
    if (version != kVersion)
      return fail(Errc::io,
                  "it has version " + std::to_string(version) + ", this baton knows " +
                      std::to_string(kVersion) + ": another baton wrote it; use that one",
                  path_);
    db_ = *std::move(db);
    seen_ = -1;
    return {};
  }

  /// Writes what is not written yet.
  Result<void> keep() {
    if (changes_.empty() || read_only_)
      return {};
    auto done = open(true);
    if (done)
      done = db_->execute("BEGIN IMMEDIATE");
    for (const Change& change : changes_)
      if (done)
        done = write(change);
    if (done)
      done = db_->execute("COMMIT");
    if (!done) {
      if (db_ != nullptr)
        db_->rollback();
      return done;
    }
    changes_.clear();
    seen_ = -1;
    return {};
  }

  Result<void> write(const Change& change) {
    if (change.release)
      return rows::run(
          *db_, "DELETE FROM parked WHERE provider=? AND account=? AND (model='' OR model=?)",
          change.release->provider, change.release->account, change.release->model);
    const Parked& row = *change.park;
    return rows::run(*db_, "INSERT OR REPLACE INTO parked VALUES(?,?,?,?,?,?,?,?,?)",
                     row.whose.provider, row.whose.account, row.whose.model, flag(row.login),
                     millis(row.since),
                     row.until ? std::optional(millis(*row.until)) : std::optional<std::int64_t>(),
                     std::int64_t{row.times}, row.run, row.why);
  }

  /// Reads the rows if another connection, or this one, has changed them.
  Result<void> refresh() {
    if (!is_there()) {
      db_.reset();
      rows_.clear();
      return {};
    }
    if (auto opened = open(false); !opened)
      return opened;
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
  std::unique_ptr<Database> db_;
  std::vector<Parked> rows_;
  std::int64_t seen_ = -1;  ///< `data_version` of `rows_`; -1: to be read again
  std::vector<Change> changes_;
};

}  // namespace

std::unique_ptr<Providers> make_providers(const std::string& state_folder, bool read_only) {
  return std::make_unique<DaemonDb>(
      state_folder.substr(0, state_folder.rfind('/') + 1) + "daemon.db", read_only);
}

std::unique_ptr<Providers> no_providers() {
  return std::make_unique<DaemonDb>("", true);
}

}  // namespace baton
