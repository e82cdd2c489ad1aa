// SPDX-License-Identifier: Apache-2.0
#include "io/journal/sqlite.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <sys/mount.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "io/temp_folder.h"
#include "print.h"

namespace baton::sqlite {
namespace {

using baton::test::TempFolder;

void run(Database& db, const std::string& sql) {
  const auto done = db.execute(sql);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : describe(done.error())));
}

std::int64_t number(Database& db, const char* sql) {
  auto query = db.prepare(sql);
  REQUIRE(query);
  REQUIRE((*query)->step() == true);
  const std::int64_t value = (*query)->integer();
  (*query)->reset();
  return value;
}

std::unique_ptr<Database> connection(const std::string& path) {
  auto db = Database::open(path, Database::Access::write);
  REQUIRE(db);
  // So little that what a transaction changes goes to the log before its end.
  run(**db, "PRAGMA synchronous=FULL; PRAGMA cache_size=8;");
  return std::move(*db);
}

constexpr const char* kFill =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
    "INSERT INTO rows SELECT i, zeroblob(900) FROM n;";

}  // namespace

TEST_CASE("what a transaction that was undone has left for the log harms nobody") {
  const TempFolder scratch;
  const std::string path = scratch / "db";
  test::write(path, "");
  const auto one = connection(path);
  run(*one, "PRAGMA journal_mode=WAL; CREATE TABLE rows(i INTEGER, bytes BLOB);");
  run(*one, kFill);
  const auto other = connection(path);
  for (std::int64_t round = 1; round <= 20; ++round) {
    CAPTURE(round);
    // Nothing of the log is read meanwhile: there is none, and rows stay where they are.
    run(*one, "PRAGMA wal_checkpoint(TRUNCATE);");
    run(*one, "BEGIN; UPDATE rows SET bytes = randomblob(900); ROLLBACK;");
    run(*other, "UPDATE rows SET i = i + 1;");
    run(*one, "UPDATE rows SET i = i + 1;");
    CHECK(number(*other, "SELECT sum(i) FROM rows") == 5050 + 200 * round);
    CHECK(number(*other, "SELECT count(*) FROM rows WHERE bytes <> zeroblob(900)") == 0);
  }
  const auto fresh = connection(path);
  CHECK(number(*fresh, "SELECT sum(i) FROM rows") == 5050 + 200 * 20);
  CHECK(number(*fresh, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'") == 0);
}

TEST_CASE("a transaction that has lost a write cannot be committed") {
  const TempFolder scratch;
  if (geteuid() != 0 ||
      mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=1m,mode=0750") != 0) {
    MESSAGE("skipped: cannot mount a small tmpfs");
    return;
  }
  const std::string path = scratch / "db";
  test::write(path, "");
  {
    const auto one = connection(path);
    run(*one, "PRAGMA journal_mode=WAL; CREATE TABLE rows(i INTEGER, bytes BLOB);");
    // A statement of which so much can be undone by itself that the transaction goes on.
    run(*one, "CREATE TABLE copies(i INTEGER PRIMARY KEY, bytes BLOB UNIQUE);");
    run(*one, kFill);
    run(*one, "PRAGMA wal_checkpoint(TRUNCATE);");
    run(*one, "BEGIN; UPDATE rows SET bytes = randomblob(900);");
    std::ofstream(scratch / "ballast") << std::string(2'000'000, 'x');
    CHECK_FALSE(one->execute("INSERT INTO copies SELECT i, bytes FROM rows"));
    std::filesystem::remove(scratch / "ballast");
    REQUIRE(one->in_transaction());
    CHECK_FALSE(one->execute("COMMIT"));
    one->rollback();
    const auto other = connection(path);
    CHECK(number(*other, "SELECT count(*) FROM rows WHERE bytes = zeroblob(900)") == 100);
    CHECK(number(*other, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'") == 0);
    run(*one, "UPDATE rows SET i = i + 1;");
    CHECK(number(*other, "SELECT sum(i) FROM rows") == 5150);
  }
  CHECK(umount(scratch.path().c_str()) == 0);
}

}  // namespace baton::sqlite
