// SPDX-License-Identifier: Apache-2.0
#include "io/journal/journal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/agents/run_directory.h"
#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/files/root.h"
#include "io/journal/claims.h"
#include "io/journal/lock_holder.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"
#include "io/journal/values.h"

namespace baton {
namespace {

using sqlite::Database;

constexpr mode_t kMode = 0640;
constexpr std::uint64_t kShortBytes = 1U << 20U;
/// How long a step waits for a process that locks the journal. The daemon tries again later, and
/// has other things to do meanwhile.
constexpr Millis kStepPatience{250};

/// Creates the empty file with its mode, because SQLite would use the umask; -wal and -shm copy the
/// mode. Does not open an existing file: closing it would release the POSIX locks of another
/// connection in this process.
Result<void> make_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode);
  if (file < 0 && errno != EEXIST)
    return system_error(errno, "cannot make the journal", path);
  if (file >= 0) {
    const bool made = fchmod(file, kMode) == 0;
    close(file);
    if (!made)
      return system_error(errno, "cannot set the mode of the journal", path);
  }
  return {};
}

class SqliteJournal : public Journal {
 public:
  SqliteJournal(std::unique_ptr<Database> db, std::string path, std::string runs)
      : db_(std::move(db)), path_(std::move(path)), runs_(std::move(runs)) {}

  Result<Ledger> load(Time now) override {
    // These indexes decide whether something was started, so check them; this does not read all
    // rows.
    if (auto sound = rows::check(*db_, "runs"); !sound)
      return pass_on(sound);
    return rows::load(*db_, now, runs_);
  }

  Result<std::string> bytes(const std::string& path) override { return rows::bytes(*db_, path); }
  Result<bool> was_accepted(const std::string& path, const Digest& digest) override {
    return rows::was_accepted(*db_, path, digest);
  }

  Result<std::optional<Run>> run(const RunId& id) override {
    std::optional<Run> found;
    auto done = rows::each(
        *db_, "runs", "SELECT " + std::string(rows::run_columns()) + " FROM runs WHERE id = ?",
        [&](sqlite::Statement& s) { s.add(id); },
        [&](sqlite::Statement& row) { found = rows::read_run(row, runs_); });
    if (!done)
      return pass_on(done);
    return found;
  }

  Result<std::vector<Run>> runs_since(Time since) override {
    std::vector<Run> found;
    auto done = rows::each(
        *db_, "runs",
        "SELECT " + std::string(rows::run_columns()) +
            " FROM runs WHERE state <> 'ended' OR started >= ?1 OR ended >= ?1 ORDER BY started",
        [&](sqlite::Statement& s) { s.add(rows::millis(since)); },
        [&](sqlite::Statement& row) { found.push_back(rows::read_run(row, runs_)); });
    if (!done)
      return pass_on(done);
    return found;
  }

  Result<Arrival> commit(const Commit& commit) override {
    auto done = try_commit(commit);
    if (!done && done.error().code == Errc::no_space && reuse_log())
      done = try_commit(commit);
    else if (done && is_low_on_space())
      (void)reuse_log();
    return done;
  }

 private:
  Result<Arrival> try_commit(const Commit& commit) {
    if (broken_)
      return tl::unexpected<Error>(*broken_);
    db_->wait_for_locks(kStepPatience);
    auto done = db_->execute("BEGIN IMMEDIATE");
    db_->wait_for_locks(sqlite::kPatience);
    if (done)
      done = write(commit);
    Result<Arrival> last = 0;
    if (done && !commit.events.empty())
      last = last_event();
    if (done)
      done = last ? db_->execute("COMMIT") : Result<void>(pass_on(last));
    if (!done) {
      db_->rollback();
      if (done.error().code != Errc::busy && done.error().code != Errc::no_space)
        broken_ = done.error();
      if (done.error().code == Errc::busy)
        return fail(Errc::busy, locked_by(path_ + "-shm", kWalWriteByte), path_);
      return pass_on(done);
    }
    return last;
  }

  /// The -wal grows with each transaction. After a checkpoint, the next transaction overwrites its
  /// beginning.
  Result<void> reuse_log() { return db_->execute("PRAGMA wal_checkpoint"); }
  /// The last free space is for requests and their answers.
  bool is_low_on_space() const {
    struct statvfs room {};
    return statvfs(runs_.c_str(), &room) == 0 &&
           std::uint64_t{room.f_bavail} * room.f_frsize < kShortBytes;
  }

  /// Writes in the order that the tables need, until something fails.
  Result<void> write(const Commit& commit) {
    const Time now = wall();
    Result<void> done;
    const auto for_all = [&done](const auto& all, const auto& act) {
      for (const auto& each : all)
        if (done)
          done = act(each);
    };
    const auto write_row = [this](const auto& row) { return rows::write(*db_, row); };
    for_all(commit.forgotten, [&](const FlowId& flow) { return rows::forget(*db_, flow); });
    for_all(commit.moved_away, [&](const std::string& path) {
      return rows::run(*db_, "DELETE FROM documents WHERE path = ?", path);
    });
    for_all(commit.accepted,
            [&](const auto& row) { return rows::write(*db_, row.first, row.second); });
    for_all(commit.no_longer_rejected, [&](const std::string& path) {
      return rows::run(*db_, "DELETE FROM rejected WHERE path = ?", path);
    });
    for_all(commit.rejected, write_row);
    for_all(commit.replaced, [&](const auto& row) {
      return rows::write_replaced(*db_, row.first, row.second, now);
    });
    for_all(commit.stages, write_row);
    for_all(commit.memos,
            [&](const auto& row) { return rows::write_memo(*db_, row.first, row.second); });
    for_all(commit.notified,
            [&](const auto& row) { return rows::write_notified(*db_, row.first, row.second); });
    for_all(commit.origins,
            [&](const auto& row) { return rows::write_origin(*db_, row.first, row.second); });
    for_all(commit.logs,
            [&](const auto& row) { return rows::write_logs(*db_, row.first, row.second); });
    for_all(commit.controls, write_row);
    // Ended runs first: a voided one makes room for the same attempt, started again in the same
    // step.
    for (const bool live : {false, true})
      for_all(commit.runs,
              [&](const Run& run) { return run.live() == live ? write_row(run) : Result<void>(); });
    for_all(commit.intents, write_row);
    for_all(commit.intents_done, [&](std::uint64_t id) {
      return rows::run(*db_, "DELETE FROM intents WHERE id = ?", rows::count(id));
    });
    for_all(commit.requests, write_row);
    for_all(commit.replies, [&](const Reply& reply) { return rows::write(*db_, reply, now); });
    for_all(commit.events, write_row);
    return done ? write_highest(commit) : done;
  }

  Result<Arrival> last_event() {
    auto statement = db_->prepare("SELECT max(seq) FROM events");
    if (!statement)
      return pass_on(statement);
    auto there = (*statement)->step();
    const std::uint64_t last = there && *there ? rows::read_count(**statement) : 0;
    // Otherwise the statement would stay open, and the -wal could not be reset.
    (*statement)->reset();
    if (!there)
      return pass_on(there);
    return last;
  }

  /// A number is never given out twice, even when its row is gone.
  Result<void> write_highest(const Commit& commit) {
    std::uint64_t arrival = commit.arrival;
    for (const auto& [row, bytes] : commit.accepted)
      arrival = std::max(arrival, row.arrival);
    for (const StageRow& row : commit.stages)
      arrival = std::max(arrival, row.state.arrival);
    std::uint64_t intent = 0;
    for (const Intent& row : commit.intents)
      intent = std::max(intent, row.id);
    auto done = raise("arrival", arrival);
    return done ? raise("intent", intent) : done;
  }
  Result<void> raise(std::string_view name, std::uint64_t value) {
    constexpr std::string_view kSql = "UPDATE meta SET value = ?1 WHERE name = ?2 AND value < ?1";
    return value == 0 ? Result<void>() : rows::run(*db_, kSql, rows::count(value), name);
  }

  static Time wall() {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  }

  std::unique_ptr<Database> db_;
  std::string path_;
  std::string runs_;
  /// After a failed sync, the content of the disk is unknown until the next start.
  std::optional<Error> broken_;
};

}  // namespace

std::string journal_path(const std::string& state_folder) {
  return state_folder + "/journal.db";
}

Result<std::unique_ptr<Journal>> open_journal(const std::string& state_folder,
                                              std::optional<JournalUpgrade>* upgraded) {
  const std::string path = journal_path(state_folder);
  struct statfs facts {};
  if (statfs(state_folder.c_str(), &facts) != 0)
    return system_error(errno, "cannot look at the state folder", state_folder);
  const std::string_view network = network_file_system(static_cast<std::uint32_t>(facts.f_type));
  if (!network.empty())
    return fail(Errc::config,
                "the journal cannot lie on " + std::string(network) +
                    ": locks and syncs are not reliable there; choose a local state_dir",
                state_folder);
  auto usable = look_at_journal(state_folder, JournalUse::write);
  if (!usable && usable.error().code != Errc::not_found)
    return pass_on(usable);
  if (usable)
    if (auto whole = refuse_older_journal(state_folder); !whole)
      return pass_on(whole);
  auto made = make_file(path);
  if (!made)
    return pass_on(made);
  auto db = Database::open(path, Database::Access::write);
  if (!db)
    return pass_on(db);
  // Only an empty file accepts auto_vacuum, and setting it makes a commit.
  auto ready = (*db)->execute(
      "PRAGMA synchronous=FULL; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; "
      "PRAGMA journal_size_limit=16777216; PRAGMA foreign_keys=OFF;");
  if (ready) {
    auto migrated = migrate_journal(**db, path);
    ready = migrated ? Result<void>() : pass_on(migrated);
    if (migrated && upgraded != nullptr)
      *upgraded = *std::move(migrated);
  }
  if (!ready) {
    if (ready.error().where.empty())
      ready.error().where = path;
    return pass_on(ready);
  }
  return std::unique_ptr<Journal>(
      std::make_unique<SqliteJournal>(std::move(*db), path, runs_folder(state_folder)));
}

}  // namespace baton
