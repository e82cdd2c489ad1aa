// SPDX-License-Identifier: Apache-2.0
#include "io/journal/daemon_db.h"

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "io/journal/sqlite.h"
#include "io/temp_folder.h"
#include "print.h"

// The providers that are parked, in `daemon.db`.
namespace baton {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

Parked row(const std::string& provider, const std::string& model = "") {
  Parked parked;
  parked.whose = {provider, "account", model};
  parked.since = Time(Millis(1'000));
  parked.until = Time(Millis(2'000));
  parked.times = 3;
  parked.run = "0123456789abcdef";
  parked.why = "it's \"full\"";
  return parked;
}

/// A folder in which the state folders of two roots lie.
struct Place {
  TempFolder folder;
  std::string one = folder / "one";
  std::string other = folder / "other";
  std::string file = folder / "daemon.db";
  std::unique_ptr<Providers> open(bool read_only = false) const {
    return make_providers(one, read_only);
  }
};

std::vector<Parked> rows(Providers& providers) {
  auto all = providers.parked();
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : describe(all.error())));
  return *all;
}

/// What is said; empty: nothing is wrong.
Error fault(const Result<std::vector<Parked>>& done) {
  return done ? Error{Errc::usage, "", ""} : done.error();
}
Error fault(const Result<void>& done) {
  return done ? Error{Errc::usage, "", ""} : done.error();
}

bool says(const Error& error, std::string_view text) {
  return describe(error).find(text) != std::string::npos;
}

void execute(const std::string& path, const std::string& sql) {
  auto db = sqlite::Database::open(path, sqlite::Database::Access::write);
  REQUIRE(db);
  const auto done = (*db)->execute(sql);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : describe(done.error())));
}

/// Another process that has locked the file.
class Locker {
 public:
  Locker(const std::string& path, const std::string& sql) {
    int ends[2] = {};
    REQUIRE(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      auto db = sqlite::Database::open(path, sqlite::Database::Access::write);
      const char ready = db && (*db)->execute(sql) ? 'y' : 'n';
      (void)!write(ends[1], &ready, 1);
      for (;;)
        pause();
    }
    char ready = 0;
    REQUIRE(read(ends[0], &ready, 1) == 1);
    CHECK(ready == 'y');
    close(ends[0]);
    close(ends[1]);
  }
  ~Locker() { end(); }
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;
  void end() {
    if (pid_ <= 0)
      return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST_CASE("the file is made with the first row, and keeps it") {
  const Place place;
  CHECK(rows(*place.open()).empty());
  CHECK(place.open()->release(row("anthropic")));
  CHECK(!fs::exists(place.file));
  Parked login = row("anthropic");
  login.login = true;
  login.until.reset();
  const auto providers = place.open();
  REQUIRE(providers->park(row("anthropic")));
  REQUIRE(providers->park(login));
  REQUIRE(providers->park(row("anthropic", "opus")));
  const std::vector<Parked> all = {row("anthropic"), login, row("anthropic", "opus")};
  CHECK(rows(*providers) == all);
  CHECK(rows(*place.open()) == all);
  CHECK(rows(*place.open(true)) == all);
  struct stat facts {};
  REQUIRE(stat(place.file.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07) == 0);
}

TEST_CASE("a row is replaced and released by provider, account, model and kind") {
  const Place place;
  const auto providers = place.open();
  REQUIRE(providers->park(row("anthropic")));
  REQUIRE(providers->park(row("anthropic", "opus")));
  Parked later = row("anthropic");
  later.until = Time(Millis(9'000));
  REQUIRE(providers->park(later));
  CHECK(rows(*providers) == std::vector<Parked>{later, row("anthropic", "opus")});
  REQUIRE(providers->release(row("anthropic")));
  CHECK(rows(*providers) == std::vector<Parked>{row("anthropic", "opus")});
  REQUIRE(providers->release(row("anthropic")));
}

TEST_CASE("two daemons of one folder see each other's rows") {
  const Place place;
  const auto one = make_providers(place.one, false);
  const auto other = make_providers(place.other, false);
  CHECK(rows(*other).empty());
  REQUIRE(one->park(row("anthropic")));
  CHECK(rows(*other) == std::vector<Parked>{row("anthropic")});
  REQUIRE(other->park(row("openai")));
  CHECK(rows(*one).size() == 2);
  REQUIRE(other->release(row("anthropic")));
  CHECK(rows(*one) == std::vector<Parked>{row("openai")});
}

TEST_CASE("a command that only looks changes nothing, and sees what it supposes") {
  const Place place;
  REQUIRE(place.open()->park(row("anthropic")));
  const auto looking = place.open(true);
  REQUIRE(looking->park(row("openai")));
  REQUIRE(looking->release(row("anthropic")));
  CHECK(rows(*looking) == std::vector<Parked>{row("openai")});
  CHECK(rows(*place.open()) == std::vector<Parked>{row("anthropic")});
  CHECK(rows(*no_providers()).empty());
}

TEST_CASE("another process that locks the file is named, and nothing is lost by it") {
  for (const std::string begin : {"BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"}) {
    CAPTURE(begin);
    const Place place;
    const auto providers = place.open();
    REQUIRE(providers->park(row("anthropic")));
    Locker locker(place.file, begin);
    const Error error = fault(providers->park(row("openai")));
    CHECK(error.code == Errc::busy);
    CHECK(says(error, place.file));
    CHECK(says(error, "is locked by process " + std::to_string(locker.pid())));
    if (begin == "BEGIN EXCLUSIVE")
      for (const bool read_only : {false, true})
        CHECK(fault(place.open(read_only)->parked()).code == Errc::busy);
    locker.end();
    CHECK(rows(*providers) == std::vector<Parked>{row("anthropic")});
    REQUIRE(providers->park(row("openai")));
    CHECK(rows(*place.open()).size() == 2);
  }
}

TEST_CASE("a damaged file is an error that says what helps, until it is moved away") {
  struct Damage {
    const char* what;
    std::function<void(const std::string&)> harm;
  };
  const std::vector<Damage> all = {
      {"garbage", [](const std::string& path) { test::write(path, std::string(8192, 'x')); }},
      {"cut", [](const std::string& path) { fs::resize_file(path, 5000); }},
      {"cut in the header", [](const std::string& path) { fs::resize_file(path, 60); }},
      {"emptied", [](const std::string& path) { fs::resize_file(path, 0); }},
      {"of another program",
       [](const std::string& path) {
         fs::remove(path);
         test::write(path, "");
         execute(path, "CREATE TABLE notes(text TEXT)");
       }},
      {"other values",
       [](const std::string& path) {
         execute(path,
                 "DROP TABLE parked; CREATE TABLE parked(provider, account, model, login, "
                 "since, until, times, run, why); "
                 "INSERT INTO parked VALUES(1, 2, 3, 'x', 'y', 'z', 0, 0, 0)");
       }},
  };
  for (const Damage& damage : all) {
    CAPTURE(damage.what);
    const Place place;
    REQUIRE(place.open()->park(row("anthropic")));
    damage.harm(place.file);
    for (const bool read_only : {false, true}) {
      const Error error = fault(place.open(read_only)->parked());
      CHECK(error.code == Errc::io);
      CHECK(says(error, "daemon.db is damaged"));
      CHECK(says(error, "move it away"));
      CHECK(!says(error, "the journal:"));
    }
    const auto daemon = place.open();
    CHECK(!daemon->parked());
    fs::rename(place.file, place.file + ".old");
    CHECK(rows(*daemon).empty());
    REQUIRE(daemon->park(row("openai")));
    CHECK(rows(*place.open()) == std::vector<Parked>{row("openai")});
  }
}

TEST_CASE("a file that takes the place of another one is noticed") {
  const Place place;
  const auto daemon = place.open();
  REQUIRE(daemon->park(row("anthropic")));
  fs::rename(place.file, place.file + ".old");
  REQUIRE(place.open()->park(row("openai")));
  CHECK(rows(*daemon) == std::vector<Parked>{row("openai")});
  fs::remove(place.file);
  CHECK(rows(*daemon).empty());
}

TEST_CASE("what a killed maker of the file left does not stop the next one") {
  const Place place;
  test::write(place.file + ".new." + std::to_string(getpid()), "half");
  const auto daemon = place.open();
  CHECK(rows(*daemon).empty());
  REQUIRE(daemon->park(row("anthropic")));
  CHECK(rows(*place.open(true)) == std::vector<Parked>{row("anthropic")});
  CHECK(!fs::exists(place.file + ".new." + std::to_string(getpid())));
}

TEST_CASE("an empty file is damaged, also under a daemon that has it open") {
  const Place place;
  const auto daemon = place.open();
  REQUIRE(daemon->park(row("anthropic")));
  fs::resize_file(place.file, 0);
  const Error error = fault(daemon->parked());
  CHECK(says(error, "daemon.db is damaged"));
  CHECK(fault(daemon->park(row("openai"))).code == Errc::io);
}

TEST_CASE("the file of a newer baton is left alone") {
  const Place place;
  REQUIRE(place.open()->park(row("anthropic")));
  execute(place.file, "UPDATE meta SET value = 1000 WHERE name = 'version'");
  for (const bool read_only : {false, true})
    CHECK(says(fault(place.open(read_only)->parked()), "it has version 1000"));
  CHECK(!place.open()->park(row("openai")));
}

TEST_CASE("a link or a folder in the place of the file is not followed") {
  const Place place;
  const std::string target = place.folder / "target";
  test::write(target, "precious");
  fs::create_symlink(target, place.file);
  for (const bool read_only : {false, true})
    CHECK(fault(place.open(read_only)->parked()).code == Errc::not_regular);
  CHECK(fault(place.open()->park(row("openai"))).code == Errc::not_regular);
  CHECK(test::slurp(target) == "precious");
  fs::remove(place.file);
  fs::create_directory(place.file);
  CHECK(fault(place.open()->parked()).code == Errc::not_regular);
}

TEST_CASE("a folder or a file that this user may not write is said") {
  if (geteuid() == 0) {
    MESSAGE("skipped: root may write everywhere");
    return;
  }
  const Place place;
  fs::permissions(place.folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(rows(*place.open()).empty());
  CHECK(says(fault(place.open()->park(row("openai"))), "daemon.db: cannot make it"));
  fs::permissions(place.folder.path(), fs::perms::owner_all);
  REQUIRE(place.open()->park(row("anthropic")));
  fs::permissions(place.file, fs::perms::owner_read);
  CHECK(rows(*place.open(true)).size() == 1);
  CHECK(fault(place.open()->parked()).code == Errc::denied);
  fs::permissions(place.file, fs::perms::none);
  CHECK(says(fault(place.open(true)->parked()), "not readable for this user"));
}

}  // namespace
}  // namespace baton
