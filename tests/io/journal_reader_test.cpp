// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <functional>

#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <grp.h>

#include "io/agents/run_directory.h"
#include "io/child.h"
#include "io/journal/journal.h"
#include "io/journal/prune.h"
#include "io/journal/reader.h"
#include "io/journal/sqlite.h"
#include "io/journal_rows.h"
#include "io/system/requests.h"
#include "io/temp_folder.h"

namespace baton {
namespace {

using namespace baton::test;  // NOLINT(google-build-using-namespace): the rows of these tests

constexpr gid_t kGroup = 65534;
constexpr uid_t kUser = 65534;

/// 0 when the sample can be read.
int read_sample(const std::string& folder) {
  auto reader = read_journal(folder);
  if (!reader) {
    MESSAGE(describe(reader.error()));
    return 1;
  }
  auto ledger = (*reader)->ledger(at(1200));
  if (!ledger) {
    MESSAGE(describe(ledger.error()));
    return 2;
  }
  for (Run& run : ledger->runs)
    run.directory.clear();
  if (ledger->runs != sample_commit().runs || ledger->stages != sample_commit().stages)
    return 3;
  const auto bytes = (*reader)->bytes("tickets/a.json");
  return bytes && bytes->size() == 7 ? 0 : 4;
}

/// As the same user, and as a member of the group who cannot write anything.
void check_readers(const std::string& folder) {
  CHECK(in_child([&] { return read_sample(folder); }) == 0);
  if (geteuid() != 0) {
    MESSAGE("skipped: becoming another user needs root");
    return;
  }
  const int status = in_child([&] {
    if (setgroups(0, nullptr) != 0 || setgid(kGroup) != 0 || setuid(kUser) != 0)
      return 9;
    if (access(folder.c_str(), W_OK) == 0 || access(journal_path(folder).c_str(), W_OK) == 0)
      return 8;
    return read_sample(folder);
  });
  CHECK(status == 0);
}

/// A folder as the daemon makes it: its files go to the folder's group.
void share(const TempFolder& scratch) {
  if (geteuid() == 0)
    REQUIRE(chown(scratch.path().c_str(), 0, kGroup) == 0);
  REQUIRE(chmod(scratch.path().c_str(), 02750) == 0);
}

/// To be called in a child, which then ends without closing the journal.
int write_sample(const std::string& folder) {
  auto journal = open_journal(folder);
  if (!journal)
    return 1;
  Journal* killed = journal->release();
  return killed->commit(sample_commit()) ? 0 : 1;
}

std::vector<std::string> words(const Result<std::vector<Event>>& events) {
  std::vector<std::string> words;
  REQUIRE(events.has_value());
  for (const Event& event : *events)
    words.push_back(event.event);
  return words;
}

Event event_at(std::int64_t seconds, const std::string& word, const FlowId& flow) {
  Event event;
  event.time = at(seconds);
  event.event = word;
  event.flow = flow;
  return event;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("the journal is read while a daemon writes, after its end, after a crash, by the group") {
  const TempFolder scratch;
  share(scratch);
  const std::string& folder = scratch.path();
  SUBCASE("while a daemon has it open") {
    auto journal = open_journal(folder);
    REQUIRE(journal.has_value());
    REQUIRE((*journal)->commit(sample_commit()).has_value());
    check_readers(folder);
    // A reader never takes the writer's place.
    Commit next;
    next.memos.emplace_back(flow_b(), Json(1));
    CHECK((*journal)->commit(next).has_value());
    check_readers(folder);
  }
  SUBCASE("after a clean end") {
    REQUIRE(in_child([&] {
              auto journal = open_journal(folder);
              const bool fine = journal && (*journal)->commit(sample_commit());
              if (journal)
                journal->reset();
              return fine ? 0 : 1;
            }) == 0);
    CHECK(std::filesystem::exists(journal_path(folder) + "-wal"));
    check_readers(folder);
    check_readers(folder);
  }
  SUBCASE("after a crash") {
    REQUIRE(in_child([&] { return write_sample(folder); }) == 0);
    CHECK(std::filesystem::file_size(journal_path(folder) + "-wal") > 0);
    check_readers(folder);
  }
  SUBCASE("after a crash, without the -shm file") {
    REQUIRE(in_child([&] { return write_sample(folder); }) == 0);
    std::filesystem::remove(journal_path(folder) + "-shm");
    CHECK(in_child([&] { return read_sample(folder); }) == 0);
  }
  SUBCASE("after a clean end, when somebody removed the files beside it") {
    {
      auto journal = open_journal(folder);
      REQUIRE((*journal)->commit(sample_commit()).has_value());
    }
    std::filesystem::remove(journal_path(folder) + "-shm");
    std::filesystem::remove(journal_path(folder) + "-wal");
    if (geteuid() == 0) {
      CHECK(in_child([&] {
              return setgroups(0, nullptr) == 0 && setgid(kGroup) == 0 && setuid(kUser) == 0
                         ? read_sample(folder)
                         : 9;
            }) == 0);
    }
    check_readers(folder);
  }
}

TEST_CASE("what cannot be read is said so") {
  const TempFolder scratch;
  CHECK(read_journal(scratch / "none").error().code == Errc::not_found);
  CHECK(read_journal(scratch.path()).error().code == Errc::not_found);
  const int made = in_child([&] { return write_sample(scratch.path()); });
  REQUIRE(made == 0);
  if (geteuid() != 0) {
    MESSAGE("skipped: becoming another user needs root");
    return;
  }
  REQUIRE(chmod(scratch.path().c_str(), 0755) == 0);
  CHECK(in_child([&] {
          if (setgroups(0, nullptr) != 0 || setgid(kGroup) != 0 || setuid(kUser) != 0)
            return 9;
          const auto reader = read_journal(scratch.path());
          return !reader && reader.error().code == Errc::denied ? 0 : 1;
        }) == 0);
}

TEST_CASE("events are asked for by flow, number, time and how many") {
  const TempFolder scratch;
  auto journal = open_journal(scratch.path());
  REQUIRE(journal.has_value());
  Commit step;
  step.events = {event_at(10, "a", flow_a()), event_at(20, "b", flow_b()),
                 event_at(30, "c", flow_a()), event_at(40, "d", {})};
  REQUIRE((*journal)->commit(step).has_value());
  auto reader = read_journal(scratch.path());
  REQUIRE(reader.has_value());
  JournalReader& look = **reader;
  CHECK(words(look.events({})) == Words{"a", "b", "c", "d"});
  CHECK(look.events({})->at(3).seq == 4);
  CHECK(words(look.events({.flow = flow_a(), .since = {}})) == Words{"a", "c"});
  CHECK(words(look.events({.flow = {}, .after = 2, .since = {}})) == Words{"c", "d"});
  CHECK(words(look.events({.flow = {}, .since = at(20)})) == Words{"b", "c", "d"});
  CHECK(words(look.events({.flow = {}, .since = {}, .limit = 2})) == Words{"a", "b"});
  CHECK(words(look.events({.flow = {}, .since = {}, .limit = 2, .newest = true})) ==
        Words{"c", "d"});
  REQUIRE((*journal)->commit(step).has_value());
  CHECK(words(look.events({.flow = {}, .after = 4, .since = {}})).size() == 4);
}

TEST_CASE("a reader that holds still knows what its ledger names") {
  const TempFolder scratch;
  auto journal = open_journal(scratch.path());
  REQUIRE(journal.has_value());
  REQUIRE((*journal)->commit(sample_commit()).has_value());
  auto reader = read_journal(scratch.path());
  REQUIRE(reader.has_value());
  JournalReader& look = **reader;
  REQUIRE(look.begin_snapshot().has_value());
  REQUIRE(look.ledger(at(1200)).has_value());
  Commit forget;
  forget.moved_away = {"tickets/a.json"};
  REQUIRE((*journal)->commit(forget).has_value());
  CHECK(look.bytes("tickets/a.json").has_value());
  CHECK(look.ledger(at(1200))->accepted.size() == 2);
  look.end_snapshot();
  CHECK(look.bytes("tickets/a.json").error().code == Errc::not_found);
  CHECK(look.ledger(at(1200))->accepted.size() == 1);
  CHECK(read_journal(scratch.path()).value()->bytes("tickets/a.json").error().code ==
        Errc::not_found);
}

TEST_CASE("a run is found by the beginning of its id") {
  const TempFolder scratch;
  REQUIRE(in_child([&] { return write_sample(scratch.path()); }) == 0);
  auto reader = read_journal(scratch.path());
  REQUIRE(reader.has_value());
  JournalReader& look = **reader;
  CHECK(look.run("aa")->id == "aa01");
  CHECK(look.run("ab02")->id == "ab02");
  const auto several = look.run("a");
  CHECK(several.error().code == Errc::usage);
  CHECK(several.error().message == "several runs begin with 'a': aa01, ab02");
  CHECK(look.run("f").error().code == Errc::not_found);
  CHECK(look.run("a%").error().code == Errc::not_found);
  CHECK(look.runs({.flow = flow_a(), .id_prefix = ""})->size() == 2);
  CHECK(look.runs({.flow = flow_b(), .id_prefix = ""})->empty());
  CHECK(look.runs({.flow = {}, .id_prefix = "", .limit = 1})->front().id == "ab02");
  REQUIRE(look.replaced("tickets/a.json").has_value());
  CHECK(look.replaced("tickets/a.json")->front().bytes == "what was there");
  CHECK(look.damage()->empty());
}

TEST_CASE("the answer to a request that is filed still stays when it is old") {
  const TempFolder scratch;
  auto journal = open_journal(scratch.path());
  REQUIRE(journal.has_value());
  REQUIRE(real_requests(scratch.path()).has_value());
  const auto filed =
      post_request(scratch.path(), Request{.id = {}, .verb = "retry", .flow = flow_a()});
  REQUIRE(filed.has_value());
  Commit step;
  for (const std::string& id : {filed->id, std::string("gone")}) {
    step.requests.push_back({id, "retry", flow_a(), "", Json::object(), "anna", "", at(3), {}});
    step.replies.push_back({id, true, "tried"});
  }
  step.events = {event_at(3, "request", flow_a())};
  REQUIRE((*journal)->commit(step).has_value());
  const auto remove = [](const std::string&) { return true; };
  REQUIRE(prune_journal(scratch.path(), {}, at(4'000'000'000), remove).has_value());
  const auto ledger = (*journal)->load(at(4'000'000'000));
  REQUIRE(ledger.has_value());
  REQUIRE(ledger->replies.size() == 1);
  CHECK(ledger->replies.front().first == filed->id);
}

TEST_CASE("runs of a subject that is gone for long are old like any other") {
  const TempFolder scratch;
  auto journal = open_journal(scratch.path());
  REQUIRE(journal.has_value());
  constexpr std::int64_t kDay = 86'400;
  Commit step;
  step.stages.push_back(sample_stage(5));
  step.stages.front().state.stage.clear();
  step.runs = {ended_run("gone", 5, 1)};
  REQUIRE((*journal)->commit(step).has_value());
  const auto remove = [](const std::string&) { return true; };
  const Retention days{.runs = Millis(1)};
  CHECK((*journal)->load(at(6 * kDay))->runs.size() == 1);
  CHECK(prune_journal(scratch.path(), days, at(6 * kDay), remove)->runs == 0);
  CHECK((*journal)->load(at(8 * kDay))->runs.empty());
  CHECK(prune_journal(scratch.path(), days, at(8 * kDay), remove)->runs == 1);
}

TEST_CASE("a run that left something is kept until somebody has looked after it") {
  const TempFolder scratch;
  auto journal = open_journal(scratch.path());
  REQUIRE(journal.has_value());
  constexpr std::int64_t kDay = 86'400;
  Commit step;
  step.stages.push_back(sample_stage(5));
  step.runs = {ended_run("looked_after", 1, 1), ended_run("left", 2, 2)};
  for (Run& run : step.runs)
    run.reason = kCouldNotStop;
  step.runs.back().forgiven = false;
  REQUIRE((*journal)->commit(step).has_value());
  const auto remove = [](const std::string&) { return true; };
  const Retention days{.runs = Millis(1)};
  REQUIRE((*journal)->load(at(6 * kDay))->runs.size() == 1);
  CHECK((*journal)->load(at(6 * kDay))->runs.front().id == "left");
  CHECK(prune_journal(scratch.path(), days, at(6 * kDay), remove)->runs == 1);
  CHECK((*journal)->load(at(80 * kDay))->runs.size() == 1);
  CHECK(prune_journal(scratch.path(), days, at(80 * kDay), remove)->runs == 0);
}

TEST_CASE("pruning removes what is old and what nothing rests on") {
  const TempFolder scratch;
  auto journal = open_journal(scratch.path());
  REQUIRE(journal.has_value());
  constexpr std::int64_t kDay = 86'400;
  Commit step;
  step.stages.push_back(sample_stage(5));
  step.runs = {ended_run("present", 5, 1),       ended_run("old", 1, 2),
               ended_run("stuck", 2, 3),         sample_run("live", 3, 4),
               ended_run("young", 1, 39 * kDay), ended_run("younger", 2, 39 * kDay + 1),
               ended_run("newest", 4, 40 * kDay)};
  step.events = {event_at(5, "old", flow_a()), event_at(20 * kDay, "young", flow_a())};
  step.replaced = {{"a", "one"}};
  REQUIRE((*journal)->commit(step).has_value());
  Words removed;
  const auto remove = [&](const std::string& folder) {
    removed.push_back(folder);
    return folder != scratch / "runs/stuck";
  };
  SUBCASE("by age") {
    const auto pruned = prune_journal(scratch.path(), {}, at(40 * kDay), remove);
    REQUIRE(pruned.has_value());
    CHECK(*pruned == Pruned{.events = 1, .runs = 1, .replaced = 0});
    CHECK(removed == Words{scratch / "runs/old", scratch / "runs/stuck"});
    CHECK((*journal)->load(at(40 * kDay))->runs.size() == 3);
    const auto reader = read_journal(scratch.path());
    CHECK((*reader)->run("old").error().code == Errc::not_found);
    CHECK((*reader)->run("stuck").has_value());
  }
  SUBCASE("by number") {
    const auto pruned =
        prune_journal(scratch.path(), {.runs = Millis(0), .max_runs = 2}, at(40 * kDay), remove);
    REQUIRE(pruned.has_value());
    CHECK(pruned->runs == 2);
    CHECK(removed.back() == scratch / "runs/young");
  }
  SUBCASE("everything at once, and the numbers go on") {
    const Retention none{Millis(1), Millis(1), Millis(1), 1};
    const auto pruned = prune_journal(scratch.path(), none, at(400'000 * kDay), remove);
    REQUIRE(pruned.has_value());
    CHECK(*pruned == Pruned{.events = 2, .runs = 4, .replaced = 1});
    REQUIRE((*journal)->commit(step).has_value());
    const auto reader = read_journal(scratch.path());
    CHECK((*reader)->events({})->front().seq == 3);
  }
  SUBCASE("what ended within the last hour stays, and no newer run has to come for it to go") {
    const Retention none{Millis(0), Millis(1), Millis(0), 0};
    const std::int64_t end = 40 * kDay + 60;
    CHECK(prune_journal(scratch.path(), none, at(end + 3599), remove)->runs == 3);
    CHECK(removed.back() == scratch / "runs/younger");
    CHECK(prune_journal(scratch.path(), none, at(end + 3600), remove)->runs == 1);
    CHECK(removed.back() == scratch / "runs/newest");
  }
  SUBCASE("nothing when told so") {
    const Retention all{Millis(0), Millis(0), Millis(0), 0};
    CHECK(*prune_journal(scratch.path(), all, at(400'000 * kDay), remove) == Pruned{});
    CHECK(removed.empty());
  }
  CHECK(prune_journal(scratch / "none", {}, at(0), remove).error().code == Errc::not_found);
}

TEST_CASE("directories of runs that were never committed are removed") {
  const TempFolder scratch;
  REQUIRE(open_journal(scratch.path()));
  namespace fs = std::filesystem;
  const fs::path runs = scratch / "runs";
  fs::create_directories(runs / "00000000000000000000000000000001");
  fs::create_directories(runs / "00000000000000000000000000000002");
  fs::last_write_time(runs / "00000000000000000000000000000001",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  // A folder that is locked or has no such name is nobody's to remove.
  for (const char* other : {"00000000000000000000000000000003", "_not_a_run", "notes"}) {
    fs::create_directories(runs / other);
    fs::last_write_time(runs / other, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  const auto directory = open_run_directory(runs / "00000000000000000000000000000003");
  REQUIRE(directory);
  const auto lock = take_run_lock(*directory);
  REQUIRE((lock && *lock));
  fs::last_write_time(runs / "00000000000000000000000000000003",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  std::vector<std::string> removed;
  const auto pruned = prune_journal(scratch.path(), {}, at(0), [&](const std::string& path) {
    removed.push_back(fs::path(path).filename());
    return true;
  });
  REQUIRE(pruned.has_value());
  CHECK(removed == std::vector<std::string>{"00000000000000000000000000000001"});
}

TEST_CASE("a forged row makes pruning touch nothing outside of the folder of the runs") {
  const TempFolder scratch;
  std::filesystem::create_directories(scratch / "victim");
  {
    auto journal = open_journal(scratch.path());
    REQUIRE(journal.has_value());
    Commit step;
    step.runs = {ended_run("old", 1, 2), ended_run("newest", 4, 40L * 86'400)};
    REQUIRE((*journal)->commit(step).has_value());
  }
  for (const char* sql : {"UPDATE runs SET id = '../victim' WHERE id = 'old'",
                          "UPDATE runs SET id = '.' WHERE id = '../victim'",
                          "DELETE FROM runs WHERE id = '.'; "
                          "INSERT INTO forgotten_runs VALUES('../victim')"}) {
    CAPTURE(sql);
    {
      auto db =
          sqlite::Database::open(journal_path(scratch.path()), sqlite::Database::Access::write);
      REQUIRE(db.has_value());
      REQUIRE((*db)->execute(sql).has_value());
    }
    bool asked = false;
    const auto pruned =
        prune_journal(scratch.path(), {}, at(41L * 86'400), [&](const std::string&) {
          asked = true;
          return true;
        });
    REQUIRE(!pruned.has_value());
    CHECK(pruned.error().message.find("damaged") != std::string::npos);
    CHECK_FALSE(asked);
  }
}

}  // namespace baton
