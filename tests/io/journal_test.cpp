// SPDX-License-Identifier: Apache-2.0
#include "io/journal/journal.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <sys/mount.h>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include "io/agents/run_directory.h"
#include "io/child.h"
#include "io/journal/prune.h"
#include "io/journal/reader.h"
#include "io/journal/sqlite.h"
#include "io/journal_rows.h"
#include "io/temp_folder.h"

namespace baton {
namespace {

using namespace baton::test;  // NOLINT(google-build-using-namespace): the rows of these tests

std::unique_ptr<Journal> opened(const std::string& folder) {
  auto journal = open_journal(folder);
  REQUIRE_MESSAGE(journal.has_value(), (journal ? "" : describe(journal.error())));
  return std::move(*journal);
}

void commit(Journal& journal, const Commit& step) {
  auto done = journal.commit(step);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : describe(done.error())));
}

Ledger loaded(Journal& journal, Time now = at(1200)) {
  auto ledger = journal.load(now);
  REQUIRE_MESSAGE(ledger.has_value(), (ledger ? "" : describe(ledger.error())));
  // Where a run's folder lies does not stand in its row.
  for (Run& run : ledger->runs) {
    CHECK(run.directory.ends_with("/runs/" + run.id));
    run.directory.clear();
  }
  return std::move(*ledger);
}

template <typename Row>
std::vector<Row> reversed(std::vector<Row> rows) {
  std::reverse(rows.begin(), rows.end());
  return rows;
}

/// The members of the ledger that are not what was committed.
std::string different(const Ledger& ledger) {
  const Commit sample = sample_commit();
  const std::vector<AcceptedRow> accepted = {sample.accepted[1].first, sample.accepted[0].first};
  std::string names;
  const auto demand = [&](bool same, const char* name) {
    if (!same)
      names += std::string(name) + " ";
  };
  demand(ledger.arrival == 41, "arrival");
  demand(ledger.intent == 11, "intent");
  demand(ledger.accepted == accepted, "accepted");
  demand(ledger.rejected == sample.rejected, "rejected");
  demand(ledger.stages == sample.stages, "stages");
  demand(ledger.memos == reversed(sample.memos), "memos");
  demand(ledger.runs == sample.runs, "runs");
  demand(ledger.intents == sample.intents, "intents");
  demand(ledger.controls == reversed(sample.controls), "controls");
  demand(ledger.replies.size() == 1 && ledger.replies[0].first == "r1" &&
             ledger.replies[0].second == sample.replies[0],
         "replies");
  return names;
}

/// Runs SQL on the file, as somebody who damages it would.
void tamper(const std::string& folder, const std::string& sql) {
  auto db = sqlite::Database::open(journal_path(folder), sqlite::Database::Access::write);
  REQUIRE(db.has_value());
  auto done = (*db)->execute(sql);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : describe(done.error())));
}

}  // namespace

TEST_CASE("a new journal is empty, private, and may be opened again") {
  const TempFolder scratch;
  for (int round = 0; round < 2; ++round) {
    const auto journal = opened(scratch.path());
    const Ledger ledger = loaded(*journal);
    CHECK(ledger.arrival == 0);
    CHECK(ledger.accepted.empty());
    CHECK(ledger.runs.empty());
  }
  struct stat facts {};
  for (const char* name : {"journal.db", "journal.db-wal", "journal.db-shm"}) {
    CAPTURE(name);
    REQUIRE(stat((scratch / name).c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777U) == 0640U);
  }
}

TEST_CASE("every row comes back as it was, however often it is loaded or opened") {
  const TempFolder scratch;
  {
    const auto journal = opened(scratch.path());
    commit(*journal, sample_commit());
    CHECK(different(loaded(*journal)) == "");
    CHECK(different(loaded(*journal)) == "");
    CHECK(*journal->bytes("tickets/a.json") == std::string("{\"a\":\0}", 7));
    CHECK(journal->bytes("b/gone.json")->empty());
    CHECK(journal->bytes("nowhere").error().code == Errc::not_found);
  }
  const auto journal = opened(scratch.path());
  CHECK(different(loaded(*journal)) == "");
}

TEST_CASE("a commit gives the number of its last event, as the history will show it") {
  const TempFolder scratch;
  const auto journal = opened(scratch.path());
  Commit step;
  step.controls.push_back({flow_a(), Control::run, "", "", at(8), at(8), true});
  CHECK(journal->commit(step) == Arrival{0});
  step.events.resize(3);
  CHECK(journal->commit(step) == Arrival{3});
  step.events.resize(2);
  CHECK(journal->commit(step) == Arrival{5});
  const auto history = read_journal(scratch.path());
  REQUIRE(history);
  const auto events = (*history)->events({});
  REQUIRE(events);
  REQUIRE(events->size() == 5);
  CHECK(events->back().seq == 5);
}

TEST_CASE("a commit writes its log in one piece") {
  const auto writes = [] {
    std::ifstream counters("/proc/self/io");
    std::string word;
    int count = 0;
    while (counters >> word && word != "syscw:")
      ;
    counters >> count;
    return count;
  };
  const TempFolder scratch;
  const auto journal = opened(scratch.path());
  commit(*journal, sample_commit());
  const int before = writes();
  if (before == 0) {
    MESSAGE("skipped: the kernel does not count here what is written");
    return;
  }
  Commit step;
  step.runs = {sample_run("ab03", 6, 1200)};
  step.events.resize(2);
  commit(*journal, step);
  CHECK(writes() - before == 1);
}

TEST_CASE("what is larger than the pieces of the log is written whole") {
  const TempFolder scratch;
  Commit step;
  for (int size = 50'000; size < 4'000'000; size *= 3) {
    const std::string name = std::to_string(size);
    step.accepted.emplace_back(
        AcceptedRow{name, flow_a(), "ticket", "a", digest_of(name), 1, "", true},
        std::string(static_cast<std::size_t>(size), 'x'));
  }
  commit(*opened(scratch.path()), step);
  const auto journal = opened(scratch.path());
  for (const auto& [row, bytes] : step.accepted)
    CHECK(*journal->bytes(row.path) == bytes);
}

TEST_CASE("rows replace those of the same identity, and done work goes") {
  const TempFolder scratch;
  const auto journal = opened(scratch.path());
  commit(*journal, sample_commit());
  Commit next;
  next.accepted.emplace_back(
      AcceptedRow{"tickets/a.json", flow_a(), "ticket", "a", digest_of("y"), 44, "aa01", true, 1},
      "y");
  next.moved_away = {"b/gone.json"};
  next.no_longer_rejected = {"b/bad.json"};
  next.stages.push_back(sample_stage(6));
  next.memos.emplace_back(flow_a(), Json(4));
  next.runs = {ended_run("ab02", 5, 1100)};
  next.intents_done = {6, 7, 8, 10, 11};
  next.controls.push_back({flow_a(), Control::run, "", "", at(8), at(8), true});
  commit(*journal, next);

  const Ledger ledger = loaded(*journal);
  REQUIRE(ledger.accepted.size() == 1);
  CHECK(ledger.accepted[0] == next.accepted[0].first);
  CHECK(*journal->bytes("tickets/a.json") == "y");
  CHECK(ledger.rejected.empty());
  CHECK(ledger.stages == next.stages);
  CHECK(ledger.memos[1].second == Json(4));
  CHECK(ledger.runs.at(1) == next.runs[0]);
  REQUIRE(ledger.intents.size() == 1);
  CHECK(ledger.intents[0].id == 9);
  CHECK(ledger.controls[1].control == Control::run);
  CHECK(ledger.arrival == 44);
  CHECK(ledger.intent == 11);
}

TEST_CASE("a forgotten flow leaves nothing but the numbers it used and the event about it") {
  const TempFolder scratch;
  const auto journal = opened(scratch.path());
  commit(*journal, sample_commit());
  Commit next;
  next.forgotten = {flow_a()};
  next.events.push_back({0, at(90), "forgotten", flow_a(), "", "", "", "asked"});
  commit(*journal, next);
  const Ledger ledger = loaded(*journal);
  CHECK(ledger.accepted.size() == 1);
  CHECK(ledger.stages.empty());
  CHECK(ledger.runs.empty());
  CHECK(ledger.intents.empty());
  CHECK(ledger.controls.size() == 1);
  CHECK(ledger.arrival == 41);
  CHECK(ledger.intent == 11);
  const auto reader = read_journal(scratch.path());
  REQUIRE(reader.has_value());
  const auto events = (*reader)->events({.flow = flow_a(), .since = {}});
  REQUIRE(events.has_value());
  REQUIRE(events->size() == 1);
  CHECK(events->front().event == "forgotten");
  CHECK(events->front().seq == 3);
  CHECK((*reader)->replaced("tickets/a.json")->empty());
}

TEST_CASE("of the ended runs those of present generations and of the last hour are loaded") {
  const TempFolder scratch;
  const auto journal = opened(scratch.path());
  Commit step;
  step.stages.push_back(sample_stage(5));
  // One was started by a clock that was ahead, and the next one by the right clock again.
  step.runs = {ended_run("old-other", 4, 1000), ended_run("old-present", 5, 1001),
               ended_run("ahead", 2, 9'000'000), ended_run("late-other", 3, 9000),
               ended_run("newest", 2, 9000 + 3599)};
  Run costly = ended_run("late-end", 3, 2000);
  costly.ended = at(9001);
  step.runs.push_back(costly);
  Run live = sample_run("old-live", 1, 900);
  live.state = RunState::stopping;
  live.stop_why = "asked";
  step.runs.push_back(live);
  commit(*journal, step);
  std::vector<std::string> ids;
  for (const Run& run : loaded(*journal, at(9000 + 3599)).runs)
    ids.push_back(run.id);
  // In the order of the starts, which the times of two clocks do not tell.
  CHECK(ids == std::vector<std::string>{"old-present", "ahead", "late-other", "newest", "late-end",
                                        "old-live"});
}

TEST_CASE("one attempt of a key cannot be started twice") {
  const TempFolder scratch;
  auto journal = opened(scratch.path());
  Commit first;
  first.runs = {sample_run("aa", 5, 1000)};
  commit(*journal, first);
  Commit second;
  second.runs = {sample_run("bb", 5, 1001)};
  second.events.push_back({0, at(1), "started", flow_a(), "", "", "bb", ""});

  SUBCASE("the commit fails as a whole, and the journal is not to be relied on") {
    const auto done = journal->commit(second);
    REQUIRE(!done.has_value());
    CHECK(done.error().code == Errc::io);
    CHECK(journal->commit(Commit{}).error() == done.error());
    journal = opened(scratch.path());
    CHECK(loaded(*journal).runs == first.runs);
  }
  SUBCASE("unless the first was voided, also in the same step") {
    Run voided = first.runs[0];
    voided.state = RunState::ended;
    voided.outcome = Outcome::voided;
    second.runs.push_back(voided);
    commit(*journal, second);
    CHECK(loaded(*journal).runs.size() == 2);
  }
  SUBCASE("or forgiven") {
    Run forgiven = ended_run("aa", 5, 1000);
    second.runs.push_back(forgiven);
    commit(*journal, second);
    CHECK(loaded(*journal).runs.size() == 2);
  }
}

TEST_CASE("what was committed is there after the writer was killed") {
  const TempFolder scratch;
  const int status = in_child([&] {
    auto journal = open_journal(scratch.path());
    if (!journal)
      return 1;
    Journal* killed = journal->release();
    return killed->commit(sample_commit()) ? 0 : 1;
  });
  REQUIRE(status == 0);
  CHECK(std::filesystem::file_size(scratch / "journal.db-wal") > 0);
  SUBCASE("in place") {
    CHECK(different(loaded(*opened(scratch.path()))) == "");
  }
  SUBCASE("in a copy without the -shm file") {
    const TempFolder copy;
    for (const char* name : {"journal.db", "journal.db-wal"})
      std::filesystem::copy_file(scratch / name, copy / name);
    CHECK(different(loaded(*opened(copy.path()))) == "");
  }
}

namespace {

constexpr int kSteps = 3;

/// A journal whose writer was killed after as many steps, with a run in each whose shim has claimed
/// it; everything stands in its -wal.
void killed_after_starts(const std::string& folder) {
  const int status = in_child([&] {
    auto journal = open_journal(folder);
    if (!journal)
      return 1;
    Journal* killed = journal->release();
    for (int i = 1; i <= kSteps; ++i) {
      Commit step;
      step.stages.push_back(sample_stage(static_cast<std::uint64_t>(i)));
      step.memos.emplace_back(flow_a(), Json(i));
      step.runs = {sample_run("r" + std::to_string(i), static_cast<std::uint64_t>(i), i)};
      if (!killed->commit(step))
        return 1;
    }
    return 0;
  });
  REQUIRE(status == 0);
}

void claim(const std::string& folder, const std::string& run) {
  const std::filesystem::path directory = folder + "/runs/" + run;
  std::filesystem::create_directories(directory);
  write(directory / "claim", "pid 1\nstart_ticks 1\nboot_id x\nrun " + run + "\n");
}

/// How many steps such a journal still knows. Whole steps only.
std::uint64_t steps_in(Journal& journal) {
  const Ledger ledger = loaded(journal);
  const std::size_t steps = ledger.runs.size();
  if (steps == 0)
    return 0;
  REQUIRE(ledger.memos.size() == 1);
  REQUIRE(ledger.stages.size() == 1);
  CHECK(ledger.memos[0].second == Json(ledger.stages[0].state.generation));
  CHECK(ledger.stages[0].state.generation == steps);
  return steps;
}

}  // namespace

TEST_CASE("a WAL that was cut or damaged gives whole steps, and no start is forgotten by it") {
  const TempFolder scratch;
  killed_after_starts(scratch.path());
  const std::string main_file = slurp(scratch / "journal.db");
  const std::string wal = slurp(scratch / "journal.db-wal");
  const auto look = [&](const std::string& bytes, int claims) {
    const TempFolder copy;
    write(copy / "journal.db", main_file);
    write(copy / "journal.db-wal", bytes);
    for (int i = 1; i <= claims; ++i)
      claim(copy.path(), "r" + std::to_string(i));
    auto journal = open_journal(copy.path());
    if (!journal) {
      CHECK(journal.error().code == Errc::io);
      CAPTURE(journal.error().message);
      CHECK(journal.error().message.find("an old copy") != std::string::npos);
      CHECK(read_journal(copy.path()).error().code == Errc::io);
      CHECK(slurp(copy / "journal.db") == main_file);
      CHECK(slurp(copy / "journal.db-wal") == bytes);
      return -1;
    }
    return static_cast<int>(steps_in(**journal));
  };
  std::set<int> seen;
  SUBCASE("cut, nothing was claimed") {
    for (std::size_t size = 0; size <= wal.size(); size += 1031)
      seen.insert(look(wal.substr(0, size), 0));
    CHECK(look(wal, 0) == kSteps);
    CHECK(seen == std::set<int>{0, 1, 2});
  }
  SUBCASE("cut, all were claimed") {
    for (std::size_t size = 0; size <= wal.size(); size += 1031)
      seen.insert(look(wal.substr(0, size), kSteps));
    CHECK(look(wal, kSteps) == kSteps);
    CHECK(seen == std::set<int>{-1});
  }
  SUBCASE("a bit flipped, all were claimed") {
    for (std::size_t place = 0; place < wal.size(); place += 1031) {
      std::string bad = wal;
      bad[place] = static_cast<char>(bad[place] ^ 1);
      seen.insert(look(bad, kSteps));
    }
    CHECK(seen.contains(-1));
    seen.erase(-1);
    // What of the file's own beginning nobody reads may be flipped unnoticed.
    CHECK((seen.empty() || seen == std::set<int>{kSteps}));
  }
}

TEST_CASE("a journal that does not know a claimed run is refused until its folder is moved away") {
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  for (const char* run : {"aa01", "ab02", "c0ffee"})
    claim(scratch.path(), run);
  std::filesystem::create_directories(scratch / "runs/unclaimed");
  std::filesystem::create_directories(scratch / "runs/.spare");
  const auto journal = open_journal(scratch.path());
  REQUIRE(!journal.has_value());
  CHECK(journal.error().code == Errc::io);
  CHECK(journal.error().where == journal_path(scratch.path()));
  CAPTURE(journal.error().message);
  for (const char* said :
       {"an old copy", "(c0ffee)", "together with its -wal", "move the folders out of"})
    CHECK(journal.error().message.find(said) != std::string::npos);
  CHECK(read_journal(scratch.path()).error() == journal.error());
  CHECK(prune_journal(scratch.path(), {}, at(1), [](const std::string&) { return true; }).error() ==
        journal.error());
  std::filesystem::rename(scratch / "runs/c0ffee", scratch / "c0ffee");
  CHECK(opened(scratch.path()));
  CHECK(read_journal(scratch.path()));
}

TEST_CASE(
    "what agents make among the folders of the runs does not show that the journal went back") {
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  const std::string id(32, 'a');
  const auto exit_file = [](const std::string& run) {
    return R"({"version":1,"run_id":")" + run + R"(","cause":"exit","exit_code":0})";
  };
  std::filesystem::create_directories(scratch / "runs/notes");
  SUBCASE("a folder with an empty claim") {
    write(scratch / "runs/notes/claim", "");
  }
  SUBCASE("a folder with an exit file that is none") {
    write(scratch / "runs/notes/exit.json", "{}");
  }
  SUBCASE("its own folder renamed") {
    claim(scratch.path(), "aa01");
    std::filesystem::rename(scratch / "runs/aa01", scratch / "runs/aa01.x");
  }
  SUBCASE("its own folder renamed to what could be a run") {
    claim(scratch.path(), "aa01");
    std::filesystem::rename(scratch / "runs/aa01", scratch / ("runs/" + id));
  }
  SUBCASE("the exit file of a run copied") {
    write(scratch / "runs/notes/exit.json", exit_file("aa01"));
  }
  SUBCASE("but these show it") {
    std::filesystem::create_directories(scratch / ("runs/" + id));
    SUBCASE("a claim written before claims said whose they are") {
      write(scratch / ("runs/" + id + "/claim"), "pid 1\nstart_ticks 1\nboot_id x\n");
    }
    SUBCASE("a claim that cannot be read") {
      std::filesystem::create_directories(scratch / ("runs/" + id + "/claim"));
    }
    SUBCASE("an exit file of its own") {
      write(scratch / ("runs/" + id + "/exit.json"), exit_file(id));
    }
    CHECK(open_journal(scratch.path()).error().code == Errc::io);
    std::filesystem::remove_all(scratch / ("runs/" + id));
  }
  CHECK(opened(scratch.path()));
  CHECK(read_journal(scratch.path()));
}

TEST_CASE("runs of a forgotten flow are known until their folders are gone") {
  const TempFolder scratch;
  {
    const auto journal = opened(scratch.path());
    commit(*journal, sample_commit());
    claim(scratch.path(), "aa01");
    claim(scratch.path(), "ab02");
    Commit next;
    next.forgotten = {flow_a()};
    commit(*journal, next);
  }
  CHECK(loaded(*opened(scratch.path())).runs.empty());
  const auto remove = [](const std::string& folder) {
    return std::filesystem::remove_all(folder) > 0;
  };
  const auto directory = open_run_directory(scratch / "runs/ab02");
  REQUIRE(directory);
  auto lock = take_run_lock(*directory);
  REQUIRE((lock && *lock));
  CHECK(prune_journal(scratch.path(), {}, at(0), remove)->runs == 1);
  CHECK(std::filesystem::exists(scratch / "runs/ab02"));
  CHECK(opened(scratch.path()));
  (*lock).reset();
  CHECK(prune_journal(scratch.path(), {}, at(0), remove)->runs == 1);
  CHECK(std::filesystem::is_empty(scratch / "runs"));
  CHECK(prune_journal(scratch.path(), {}, at(0), remove)->runs == 0);
  claim(scratch.path(), "aa01");
  CHECK(open_journal(scratch.path()).error().code == Errc::io);
}

TEST_CASE("a run's folder lies in the state folder, wherever that has been copied to") {
  const TempFolder scratch;
  std::filesystem::create_directories(scratch / "one");
  commit(*opened(scratch / "one"), sample_commit());
  std::filesystem::copy(scratch / "one", scratch / "two", std::filesystem::copy_options::recursive);
  CHECK(opened(scratch / "two")->load(at(1200))->runs[0].directory == scratch / "two/runs/aa01");
  CHECK((*read_journal(scratch / "two"))->run("aa01")->directory == scratch / "two/runs/aa01");
}

TEST_CASE("a damaged file is an error or unnoticed, never a crash") {
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  const std::string good = slurp(scratch / "journal.db");
  REQUIRE(good.size() > 8192);
  const auto look = [&](const std::string& bytes) {
    const TempFolder copy;
    write(copy / "journal.db", bytes);
    auto journal = open_journal(copy.path());
    if (!journal)
      return journal.error().code;
    auto ledger = (*journal)->load(at(1200));
    if (!ledger)
      return ledger.error().code;
    auto done = (*journal)->commit(sample_commit());
    return done ? Errc::parse : done.error().code;
  };
  SUBCASE("cut") {
    for (std::size_t size = 1; size < good.size(); size += 4096 - 17) {
      CAPTURE(size);
      CHECK(look(good.substr(0, size)) == Errc::io);
    }
  }
  SUBCASE("flipped") {
    for (std::size_t place = 0; place < good.size(); place += 457) {
      CAPTURE(place);
      std::string bad = good;
      bad[place] = static_cast<char>(bad[place] ^ 0x5a);
      const Errc code = look(bad);
      CHECK((code == Errc::io || code == Errc::parse));
    }
  }
  SUBCASE("something else altogether") {
    CHECK(look(std::string(5000, 'x')) == Errc::io);
  }
}

TEST_CASE("a bit that was turned over makes no entry and no run another one") {
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  const std::string good = slurp(scratch / "journal.db");
  const auto before = opened(scratch.path())->load(at(1200));
  REQUIRE(before.has_value());
  const auto same = [&](const std::string& bytes) {
    const TempFolder copy;
    write(copy / "journal.db", bytes);
    const auto journal = open_journal(copy.path());
    if (!journal)
      return true;
    const auto ledger = (*journal)->load(at(1200));
    if (!ledger)
      return true;
    return ledger->stages == before->stages &&
           std::equal(ledger->runs.begin(), ledger->runs.end(), before->runs.begin(),
                      before->runs.end(), [](const Run& a, const Run& b) {
                        return a.id == b.id && a.key == b.key && a.attempt == b.attempt;
                      });
  };
  // Where a row of either lies, it and what stands around it.
  for (const std::string& word :
       {std::string("a \\\"b\\\""), "ab02" + flow_a().dialect + flow_a().name + "developer"}) {
    constexpr std::size_t kAround = 160;
    const std::size_t at = good.find(word);
    REQUIRE(at != std::string::npos);
    for (std::size_t place = at - kAround; place < at + kAround; ++place) {
      CAPTURE(place);
      std::string bad = good;
      bad[place] = static_cast<char>(bad[place] ^ 1 << (place % 7));
      CHECK(same(bad));
    }
  }
}

TEST_CASE("rows that do not hold what they should are refused by name") {
  struct Row {
    const char* sql;
    const char* message;
  };
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  for (const Row& row : {
           Row{"UPDATE runs SET id = '../../x' WHERE id = 'aa01'", "runs.id is '../../x'"},
           Row{"UPDATE runs SET id = '' WHERE id = 'aa01'", "runs.id is ''"},
           Row{"UPDATE runs SET state = 'flying'", "runs.state is 'flying'"},
           Row{"UPDATE runs SET outcome = 'won'", "runs.outcome is 'won'"},
           Row{"UPDATE runs SET attempt = -1 WHERE id = 'aa01'", "runs.attempt is '-1'"},
           Row{"UPDATE runs SET claims = '[[1,2]]'", "runs.claims is '[[1,2]]'"},
           Row{"UPDATE runs SET base = '[[\"a\",\"z\"]]'", "runs.base is '[[\"a\",\"z\"]]'"},
           Row{"UPDATE documents SET digest = 'nn'", "documents.digest is 'nn'"},
           Row{"UPDATE documents SET present = 2", "documents.present is '2'"},
           Row{"UPDATE generations SET stage = 'other'", "generations.seal is '"},
           Row{"UPDATE generations SET generation = generation + 1", "generations.seal is '"},
           Row{"UPDATE generations SET seal = ''", "generations.seal is ''"},
           Row{"UPDATE generations SET entries_by_stage = '{'", "entries_by_stage is '{'"},
           Row{"UPDATE generations SET entries_by_stage = '[]'", "entries_by_stage is '[]'"},
           Row{"UPDATE memos SET memo = 'x'", "memos.memo is 'x'"},
           Row{"UPDATE intents SET kind = 'burn'", "intents.kind is 'burn'"},
           Row{"UPDATE controls SET control = 'fly'", "controls.control is 'fly'"},
       }) {
    CAPTURE(row.sql);
    const TempFolder copy;
    std::filesystem::copy_file(scratch / "journal.db", copy / "journal.db");
    tamper(copy.path(), row.sql);
    const auto ledger = opened(copy.path())->load(at(1200));
    REQUIRE(!ledger.has_value());
    CHECK(ledger.error().code == Errc::io);
    CAPTURE(ledger.error().message);
    CHECK(ledger.error().message.find(row.message) != std::string::npos);
  }
}

TEST_CASE("what was told and cannot be read is lost, and nothing else") {
  const TempFolder scratch;
  Commit notified = sample_commit();
  notified.notified.emplace_back(FlowId{},
                                 Json::object({{"ignored", Json::array({Json("t/x.json")})}}));
  commit(*opened(scratch.path()), notified);
  REQUIRE(opened(scratch.path())->load(at(1200))->notified.size() == 1);
  tamper(scratch.path(), "UPDATE told SET told = '{\"ignored\":[\"t/' || x'ff' || '.json\"]}'");
  const auto ledger = opened(scratch.path())->load(at(1200));
  REQUIRE(ledger.has_value());
  CHECK(ledger->notified.empty());
  CHECK(ledger->notified_lost == std::vector<FlowId>{FlowId{}});
  CHECK(ledger->accepted.size() == notified.accepted.size());
}

TEST_CASE("a journal of a newer baton is left alone") {
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  tamper(scratch.path(), "UPDATE meta SET value = 99 WHERE name = 'schema_version'");
  const auto journal = open_journal(scratch.path());
  REQUIRE(!journal.has_value());
  CHECK(journal.error().code == Errc::newer);
  CHECK(journal.error().message.find("newer baton; use that one (0.2.0 or later)") !=
        std::string::npos);
  tamper(scratch.path(), "UPDATE meta SET value = 11203 WHERE name = 'needs_baton'");
  CHECK(open_journal(scratch.path()).error().message.find("(1.12.3 or later)") !=
        std::string::npos);
  tamper(scratch.path(), "DELETE FROM meta WHERE name = 'needs_baton'");
  CHECK(open_journal(scratch.path()).error().message.find("(a newer one)") != std::string::npos);
  CHECK(read_journal(scratch.path()).error().code == Errc::newer);
}

TEST_CASE("how far logs were read is kept, and goes with its flow") {
  const TempFolder scratch;
  FlowLogs logs;
  LogPosition& log = logs.files["a.jsonl"];
  log.file = ~std::uint64_t{0};
  log.offset = 12;
  log.line = 2;
  log.head_bytes = log.mark_bytes = 3;
  log.head = digest_of("one");
  log.mark = digest_of("two");
  log.in_long_line = true;
  log.faults = 1;
  log.last_faults = {{"line 1", "it is cut off"}};
  logs.wanted = {{"worker", "main"}};
  logs.held = true;
  Commit next;
  next.logs.emplace_back(flow_a(), logs);
  commit(*opened(scratch.path()), next);
  const auto known = opened(scratch.path())->load(at(1200));
  REQUIRE(known);
  REQUIRE(known->logs.size() == 1);
  CHECK(known->logs.front() == std::pair(flow_a(), logs));
  Commit gone;
  gone.forgotten.push_back(flow_a());
  commit(*opened(scratch.path()), gone);
  CHECK(opened(scratch.path())->load(at(1200))->logs.empty());
}

TEST_CASE("a journal of an older baton is brought up to date by a daemon, and only by one") {
  const TempFolder scratch;
  commit(*opened(scratch.path()), sample_commit());
  const auto as_before = opened(scratch.path())->load(at(1200));
  tamper(scratch.path(),
         "ALTER TABLE runs DROP COLUMN output; ALTER TABLE runs DROP COLUMN errors; "
         "ALTER TABLE runs DROP COLUMN duration; ALTER TABLE runs DROP COLUMN agent; "
         "ALTER TABLE runs DROP COLUMN session; ALTER TABLE runs DROP COLUMN error; DROP TABLE "
         "told; DROP TABLE forgotten_runs; DROP TABLE origins; DROP TABLE versions; "
         "DROP TABLE logs; "
         "ALTER TABLE generations DROP COLUMN seal; ALTER TABLE generations DROP COLUMN earlier; "
         "ALTER TABLE runs ADD COLUMN directory TEXT NOT NULL DEFAULT '/elsewhere'; UPDATE meta "
         "SET value = 1 WHERE "
         "name = "
         "'schema_version'");
  CHECK(read_journal(scratch.path()).error().message.find("`baton run` brings it up to date") !=
        std::string::npos);
  const auto journal = opened(scratch.path())->load(at(1200));
  REQUIRE(journal.has_value());
  CHECK(journal->runs.size() == as_before->runs.size());
  CHECK(journal->stages.size() == as_before->stages.size());
  CHECK(read_journal(scratch.path()).has_value());
  tamper(scratch.path(), "UPDATE generations SET stage = 'other'");
  CHECK(opened(scratch.path())->load(at(1200)).error().message.find("generations.seal is '") !=
        std::string::npos);
}

TEST_CASE("what is no folder or no file is refused") {
  const TempFolder scratch;
  CHECK(open_journal(scratch / "none").error().code == Errc::not_found);
  std::filesystem::create_symlink("/dev/null", journal_path(scratch.path()));
  CHECK(open_journal(scratch.path()).error().code == Errc::not_regular);
}

TEST_CASE("codes of SQLite mean what a caller can act upon") {
  constexpr int kFull = 13;
  constexpr int kBusySnapshot = 5 | (2 << 8);
  constexpr int kWrite = 10 | (3 << 8);
  constexpr int kSync = 10 | (4 << 8);
  CHECK(sqlite::error_code(kFull, 0) == Errc::no_space);
  CHECK(sqlite::error_code(kWrite, ENOSPC) == Errc::no_space);
  CHECK(sqlite::error_code(kWrite, EDQUOT) == Errc::no_space);
  CHECK(sqlite::error_code(kWrite, EFBIG) == Errc::no_space);
  CHECK(sqlite::error_code(kWrite, EIO) == Errc::io);
  CHECK(sqlite::error_code(kSync, ENOSPC) == Errc::io);
  CHECK(sqlite::error_code(kBusySnapshot, 0) == Errc::busy);
  CHECK(sqlite::error_code(11, 0) == Errc::io);
}

TEST_CASE("on a full disk nothing is written, and work goes on when there is room again") {
  const TempFolder scratch;
  if (geteuid() != 0 ||
      mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=768k,mode=0750") != 0) {
    MESSAGE("skipped: cannot mount a small tmpfs");
    return;
  }
  {
    const auto journal = opened(scratch.path());
    commit(*journal, sample_commit());
    write(scratch / "ballast", std::string(200'000, 'x'));
    Commit big;
    big.memos.emplace_back(flow_a(), Json("new"));
    big.accepted.emplace_back(AcceptedRow{"big", flow_a(), "k", "", digest_of("b"), 50, "", true},
                              std::string(600'000, 'b'));
    for (int round = 0; round < 2; ++round) {
      const auto done = journal->commit(big);
      REQUIRE(!done.has_value());
      CHECK(done.error().code == Errc::no_space);
      CHECK(different(loaded(*journal)) == "");
    }
    std::filesystem::remove(scratch / "ballast");
    big.accepted[0].second = std::string(100'000, 'b');
    commit(*journal, big);
    CHECK(journal->bytes("big")->size() == 100'000);
    CHECK(loaded(*journal).memos[1].second == Json("new"));
  }
  CHECK(loaded(*opened(scratch.path())).arrival == 50);
  CHECK(umount(scratch.path().c_str()) == 0);
}

}  // namespace baton
