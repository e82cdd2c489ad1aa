// SPDX-License-Identifier: Apache-2.0
#include "io/journal/daemon_runs.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include "io/journal/daemon_db.h"
#include "io/journal/daemon_file.h"
#include "temp_folder.h"

namespace baton {
namespace {

using std::chrono::hours;
using test::TempFolder;

const Time kNow{Millis(1'769'076'000'000)};

/// Two roots whose state folders lie in one folder.
struct Shared {
  Shared() {
    for (const std::string& root : {a, b})
      REQUIRE(mkdir(root.c_str(), 0700) == 0);
  }
  std::unique_ptr<Spending> of(const std::string& root) const { return make_spending(root, false); }
  std::string file() const { return daemon_db_path(a); }
  void execute(const std::string& sql) const {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file().c_str(), &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
  }
  TempFolder folder;
  std::string a = folder.path() + "/a";
  std::string b = folder.path() + "/b";
};

CountedRun a_run(const std::string& id, Time started = kNow) {
  CountedRun run;
  run.id = id;
  run.flow = "rules/tickets/x";
  run.configuration = "/etc/baton.yaml";
  run.role = run.agent = "developer";
  run.rule = "tickets";
  run.dialect = "rules";
  run.provider = "anthropic";
  run.started = started;
  return run;
}

CountedRun ended(CountedRun run, double cost, Time at = kNow) {
  run.ended = at;
  run.cost_usd = cost;
  run.tokens = 5;
  return run;
}

TEST_CASE("all roots see the rows of each, with the state folder of its root") {
  const Shared shared;
  const auto a = shared.of(shared.a);
  const auto b = shared.of(shared.b);
  CHECK((*a->counted(kNow))->runs.empty());
  REQUIRE(a->begin({a_run("1"), a_run("2")}));
  REQUIRE(b->begin({a_run("3")}));
  for (const auto* const each : {&a, &b}) {
    const auto counted = (*each)->counted(kNow);
    REQUIRE(counted);
    REQUIRE((*counted)->runs.size() == 3);
    CountedRun first = a_run("1");
    first.root = shared.a;
    CHECK((*counted)->runs[0] == first);
    CHECK((*counted)->runs[2].root == shared.b);
  }
  CHECK((*a->counted(kNow))->root == shared.a);
  CHECK(a->open_runs()->size() == 2);
  CHECK(b->open_runs()->size() == 1);
}

TEST_CASE("every write may be repeated without effect") {
  const Shared shared;
  {
    const auto a = shared.of(shared.a);
    REQUIRE(a->begin({a_run("1"), a_run("2")}));
    REQUIRE(a->begin({a_run("1")}));
    a->end(ended(a_run("1"), 1.5));
    a->end(ended(a_run("1"), 1.5));
    a->drop("2");
    a->drop("2");
    // Nobody has begun it: an end of it makes no row.
    a->end(ended(a_run("unknown"), 1));
    a->flush();
    a->flush();
  }
  const auto again = shared.of(shared.a);
  const auto counted = again->counted(kNow);
  REQUIRE(counted);
  REQUIRE((*counted)->runs.size() == 1);
  CHECK((*counted)->runs[0].cost_usd == 1.5);
  CHECK((*counted)->runs[0].tokens == 5);
  CHECK((*counted)->runs[0].ended == kNow);
  // A report that a dialect reads later replaces the cost.
  again->end(ended(a_run("1"), 2.5));
  again->flush();
  CHECK((*shared.of(shared.b)->counted(kNow))->runs[0].cost_usd == 2.5);
}

TEST_CASE("rows go 48 hours after their end, and never without one") {
  const Shared shared;
  {
    const auto a = shared.of(shared.a);
    REQUIRE(a->begin({a_run("old", kNow - hours(90)), a_run("young", kNow - hours(90)),
                      a_run("runs", kNow - hours(90))}));
    a->end(ended(a_run("old"), 1, kNow - hours(48) - Millis(1)));
    a->end(ended(a_run("young"), 1, kNow - hours(48)));
    a->flush();
  }
  std::vector<RunId> left;
  const auto reader = shared.of(shared.a);
  for (const CountedRun& run : (*reader->counted(kNow))->runs)
    left.push_back(run.id);
  CHECK(left == std::vector<RunId>{"runs", "young"});
  // Nobody will settle the rows of a state folder that is gone.
  REQUIRE(rmdir(shared.a.c_str()) == 0);
  const auto b = shared.of(shared.b);
  REQUIRE(b->counted(kNow));
  left.clear();
  const auto last = shared.of(shared.b);
  for (const CountedRun& run : (*last->counted(kNow))->runs)
    left.push_back(run.id);
  CHECK(left == std::vector<RunId>{"young"});
}

TEST_CASE("times ahead of the clock become now") {
  const Shared shared;
  {
    const auto a = shared.of(shared.a);
    REQUIRE(a->begin({a_run("1", kNow + hours(700))}));
    a->end(ended(a_run("1"), 1, kNow + hours(701)));
    REQUIRE(a->counted(kNow));
  }
  const auto a = shared.of(shared.a);
  const auto counted = a->counted(kNow);
  REQUIRE((*counted)->runs.size() == 1);
  CHECK((*counted)->runs[0].started == kNow);
  CHECK((*counted)->runs[0].ended == kNow);
}

TEST_CASE("while another process has the file nothing is begun, and an end is not lost") {
  const Shared shared;
  const auto a = shared.of(shared.a);
  REQUIRE(a->begin({a_run("1")}));
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(shared.file().c_str(), &other) == SQLITE_OK);
  REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  const auto begun = a->begin({a_run("2")});
  CHECK_FALSE(begun);
  a->end(ended(a_run("1"), 3));
  a->flush();
  CHECK_FALSE(a->counted(kNow));
  REQUIRE(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(other);
  REQUIRE(a->counted(kNow));
  const auto fresh = shared.of(shared.b);
  const auto counted = fresh->counted(kNow);
  REQUIRE(counted);
  REQUIRE((*counted)->runs.size() == 1);
  CHECK((*counted)->runs[0].cost_usd == 3);
}

TEST_CASE("a torn file is an error, so that nothing starts") {
  const Shared shared;
  REQUIRE(shared.of(shared.a)->begin({a_run("1")}));
  for (const char* const part : {"-wal", "-shm"})
    unlink((shared.file() + part).c_str());
  {
    std::fstream file(shared.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0);
    file << "this is no database any more";
  }
  const auto a = shared.of(shared.a);
  CHECK_FALSE(a->counted(kNow));
  CHECK_FALSE(a->begin({a_run("2")}));
  CHECK_FALSE(a->open_runs());
}

TEST_CASE("costs that cannot be true do not count") {
  const Shared shared;
  REQUIRE(shared.of(shared.a)->begin({a_run("1"), a_run("2"), a_run("3"), a_run("4")}));
  shared.execute("UPDATE runs SET ended = started, cost = -5, tokens = -1 WHERE run = '1'");
  shared.execute("UPDATE runs SET ended = started, cost = 1e300 WHERE run = '2'");
  shared.execute("UPDATE runs SET ended = started, cost = 9e999 WHERE run = '3'");
  shared.execute("UPDATE runs SET ended = started, cost = 0.0 / 0.0 WHERE run = '4'");
  const auto a = shared.of(shared.a);
  const auto counted = a->counted(kNow);
  REQUIRE(counted);
  REQUIRE((*counted)->runs.size() == 4);
  for (const CountedRun& run : (*counted)->runs) {
    CAPTURE(run.id);
    CHECK_FALSE(run.cost_usd);
    CHECK_FALSE(run.tokens);
  }
}

TEST_CASE("a raise is seen by all roots, with who made it") {
  const Shared shared;
  const auto a = shared.of(shared.a);
  REQUIRE(a->counted(kNow));
  const CapRaise raise{
      "/etc/baton.yaml", {CapScope::agent, "developer"}, CapKey::cost_per_day, 50, "anna", kNow};
  REQUIRE(add_raise(shared.b, raise));
  const auto counted = a->counted(kNow);
  REQUIRE(counted);
  REQUIRE((*counted)->raises.size() == 1);
  CHECK((*counted)->raises[0] == raise);
}

TEST_CASE("a command that only looks writes nothing, and parked providers stand beside the runs") {
  const Shared shared;
  CHECK((*make_spending(shared.a, true)->counted(kNow))->runs.empty());
  CHECK(access(shared.file().c_str(), F_OK) != 0);
  const auto providers = make_providers(shared.a, false);
  CHECK(providers->park(
      Parked{{"anthropic", "", ""}, false, kNow, kNow + hours(1), 1, "r", "limit"}));
  REQUIRE(providers->parked());
  REQUIRE(shared.of(shared.a)->begin({a_run("1")}));
  CHECK(providers->parked()->size() == 1);
  const auto looks = make_spending(shared.a, true);
  CHECK((*looks->counted(kNow))->runs.size() == 1);
  looks->drop("1");
  CHECK((*looks->counted(kNow))->runs.empty());
  CHECK((*shared.of(shared.b)->counted(kNow))->runs.size() == 1);
}

}  // namespace
}  // namespace baton
