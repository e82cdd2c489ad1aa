// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <fstream>

#include <unistd.h>

#include "io/bench.h"

using baton::Launch;
using baton::Millis;
using baton::Outcome;
using baton::RunEnd;
using baton::test::Bench;
namespace fs = std::filesystem;

namespace {

/// Longer than the limit in all cases below.
constexpr const char* kWork = "for i in 1 2 3 4 5 6 7 8; do sleep 0.3; ";

/// Agents of this test print nothing, and the working folder of each is empty at its start.
Launch silent(const Bench& bench, const std::string& script) {
  Launch wanted = bench.shell(script);
  wanted.cwd = bench.folder / "work";
  wanted.limits.idle_timeout = Millis(1000);
  fs::create_directories(wanted.cwd);
  return wanted;
}

/// A process that is none of the agent's and changes a file all the time.
class Writer {
 public:
  explicit Writer(const std::string& path) : pid_(fork()) {
    while (pid_ == 0) {
      std::ofstream(path) << 'x';
      usleep(100'000);
    }
  }
  ~Writer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer(Writer&&) = delete;
  Writer& operator=(Writer&&) = delete;

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("a silent agent that works is not ended") {
  struct Row {
    const char* what;
    std::string script;
  };
  const Row rows[] = {
      {"it uses the processor",
       "end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done"},
      {"a child of it in another session does",
       "setsid sh -c 'while :; do :; done' & sleep 3.5; kill $!"},
      {"it writes a file", std::string(kWork) + "echo >> a; done"},
      {"deep below", "mkdir -p a/b/c; " + std::string(kWork) + "echo >> a/b/c/d; done"},
      {"it copies with old times",
       "touch -d 2001-01-01 old; mkdir b; " + std::string(kWork) + "cp -p old b/new; done"},
      {"it removes files",
       "mkdir b; touch b/1 b/2 b/3 b/4 b/5 b/6 b/7 b/8; " + std::string(kWork) + "rm b/$i; done"},
      {"it commits", "mkdir .git; " + std::string(kWork) + "echo >> .git/index; done"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Bench bench;
    CHECK(bench.outcome_of(silent(bench, row.script)).outcome == Outcome::succeeded);
  }
}

TEST_CASE("a silent agent works too if the flow's files change outside of its folder") {
  Bench bench;
  Launch wanted = silent(bench, std::string(kWork) + "echo >> ../flow/state; done");
  wanted.flow_paths = {bench.folder / "missing", bench.folder / "flow"};
  fs::create_directories(bench.folder / "flow");
  CHECK(bench.outcome_of(wanted).outcome == Outcome::succeeded);
}

TEST_CASE("what a look cannot see does not end an agent") {
  Bench bench;
  Launch wanted = silent(bench, "sleep 3.5");
  SUBCASE("too many files") {
    for (int folder = 0; folder < 51; ++folder) {
      const fs::path path = fs::path(wanted.cwd) / std::to_string(folder);
      fs::create_directories(path);
      for (int file = 0; file < 1000; ++file)
        std::ofstream(path / std::to_string(file));
    }
  }
  SUBCASE("a folder that cannot be read") {
    if (geteuid() == 0) {
      MESSAGE("skipped: root may read every folder");
      return;
    }
    fs::create_directories(fs::path(wanted.cwd) / "closed");
    fs::permissions(fs::path(wanted.cwd) / "closed", fs::perms::none);
  }
  CHECK(bench.outcome_of(wanted).outcome == Outcome::succeeded);
}

TEST_CASE("an idle agent is ended, whatever changes besides its work") {
  struct Row {
    const char* what;
    std::string script;
  };
  const Row rows[] = {
      {"nothing", "sleep 1000"},
      {"a file gets a time to come", "touch -d 2040-01-01 a; sleep 1000"},
      {"a link leads to what changes", "ln -s ../elsewhere a; sleep 1000"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Bench bench;
    fs::create_directories(bench.folder / "elsewhere");
    const Writer writer(bench.folder / "elsewhere/x");
    CHECK(bench.outcome_of(silent(bench, row.script)).outcome == Outcome::stalled);
  }
}

TEST_CASE("changes in folders that are left out are no work") {
  for (const char* const name :
       {"node_modules", ".venv", "target", "__pycache__", ".git/objects"}) {
    CAPTURE(name);
    Bench bench;
    Launch wanted = silent(bench, "sleep 1000");
    const fs::path folder = fs::path(wanted.cwd) / name;
    fs::create_directories(folder);
    const Writer writer(folder / "x");
    CHECK(bench.outcome_of(wanted).outcome == Outcome::stalled);
  }
}

TEST_CASE("the wall limit ends a silent agent that works") {
  Bench bench;
  Launch wanted = silent(bench, "while :; do sleep 0.1; echo >> a; done");
  wanted.limits.timeout = Millis(3000);
  CHECK(bench.outcome_of(wanted).outcome == Outcome::timed_out);
}

TEST_CASE("a look takes nothing from what an agent used, and leaves nothing behind") {
  Bench bench;
  const Launch wanted = silent(bench, std::string(kWork) + "echo >> a; done");
  const baton::Run run = bench.start(wanted);
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::succeeded);
  CHECK_FALSE(end.leftovers);
  CHECK(bench.nothing_left(run));
}
