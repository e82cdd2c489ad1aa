// SPDX-License-Identifier: Apache-2.0

// Shims that are kept from their work, by their agents or by what befalls the machine: what they
// watch over is ended all the same.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "io/bench.h"

using baton::Launch;
using baton::Millis;
using baton::Outcome;
using baton::Run;
using baton::RunEnd;
using baton::test::Bench;
using baton::test::youngest_child_of;
namespace fs = std::filesystem;

namespace {

void with(Bench& bench, const baton::ProcessAgentsOptions& options) {
  bench.agents = baton::process_agents(*bench.context, options, [&](const baton::RunEnded& ended) {
    bench.ends.push_back(ended.end);
  });
}

}  // namespace

TEST_CASE("an agent that stops its shim again and again is ended") {
  Bench bench;
  auto options = bench.options();
  Launch wanted = bench.shell("trap \"\" TERM; touch ready; while :; do kill -STOP $PPID; done");
  wanted.limits.kill_grace = Millis(100);
  SUBCASE("when it is told to") {
    options.shim_patience = Millis(200);
    with(bench, options);
    const Run run = bench.start(wanted);
    REQUIRE(bench.wait_for("ready"));
    REQUIRE(bench.agents->stop(run));
    REQUIRE(bench.agents->stop(run));
    CHECK(bench.wait(run).outcome == Outcome::stopped);
    CHECK(bench.nothing_left(run));
  }
  SUBCASE("when it has done so for long enough") {
    options.look_every = Millis(50);
    with(bench, options);
    const Run run = bench.start(wanted);
    const RunEnd end = bench.wait(run);
    CHECK(end.outcome == Outcome::unknown);
    CHECK(end.reason == "shim_killed");
    CHECK(bench.nothing_left(run));
  }
}

TEST_CASE("a shim that has lost its descriptors ends its agent in time, and its end is told") {
  Bench bench;
  Launch wanted = bench.shell("trap \"\" TERM; touch ready; while :; do sleep 1; done");
  wanted.limits.timeout = Millis(500);
  wanted.limits.kill_grace = Millis(100);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("ready"));
  const rlimit none{1, 1};
  REQUIRE(prlimit(static_cast<pid_t>(run.pid), RLIMIT_NOFILE, &none, nullptr) == 0);
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::unknown);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("what a shim without descriptors cannot find is found by another process") {
  Bench bench;
  Launch wanted = bench.shell("setsid sleep 1000 & touch ready; sleep 0.5");
  wanted.limits.kill_grace = Millis(100);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("ready"));
  // Those it has go on; /proc cannot be opened.
  const rlimit none{3, 3};
  REQUIRE(prlimit(static_cast<pid_t>(run.pid), RLIMIT_NOFILE, &none, nullptr) == 0);
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::unknown);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("a shim that may not write a byte leaves the end to another process") {
  Bench bench;
  const Run run = bench.start(bench.shell("touch ready; sleep 0.5"));
  REQUIRE(bench.wait_for("ready"));
  rlimit few{0, 0};
  SUBCASE("none") {}
  SUBCASE("or not all") {
    few = {100, 100};
  }
  REQUIRE(prlimit(static_cast<pid_t>(run.pid), RLIMIT_FSIZE, &few, nullptr) == 0);
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::unknown);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("what `before` is about to begin ends with a shim that is killed") {
  // As under a real init: who is an orphan and ends is gone at once.
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Bench bench;
  auto options = bench.options();
  options.reap_others = true;
  with(bench, options);
  Launch wanted = bench.shell("true");
  wanted.before = {
      "/bin/sh",
      "-c",
      "touch ran; sleep 1000",
  };
  wanted.before_cwd = bench.folder / "away";
  const Run run = bench.start(wanted);
  // It stands there and waits for its folder.
  REQUIRE(bench.eventually([&] {
    const pid_t entering = youngest_child_of(static_cast<pid_t>(run.pid));
    return entering > 0 && youngest_child_of(entering) > 0;
  }));
  REQUIRE(kill(static_cast<pid_t>(run.pid), SIGKILL) == 0);
  CHECK(bench.wait(run).outcome == Outcome::unknown);
  fs::create_directory(bench.folder / "away");
  bench.context->restart();
  bench.context->run_for(std::chrono::milliseconds(300));
  CHECK_FALSE(fs::exists(bench.folder / "away/ran"));
  CHECK(bench.nothing_left(run));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("a signal that comes before the claim costs no attempt") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("echo here"));
  const pid_t process = youngest_child_of(static_cast<pid_t>(run.pid));
  REQUIRE(process > 0);
  // It was told what to start, and stands there.
  bench.context->run_for(std::chrono::milliseconds(50));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
    REQUIRE(kill(process, signal) == 0);
  REQUIRE(bench.agents->release(run.id));
  CHECK(bench.wait(run).outcome == Outcome::succeeded);
  CHECK(Bench::out(run) == "here\n");
}

TEST_CASE("a program that is being written is waited for") {
  Bench bench;
  const fs::path program = bench.folder / "program";
  fs::copy_file("/bin/true", program);
  const int writing = open(program.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(writing >= 0);
  const Run run = bench.start(bench.launch({program}));
  bench.context->run_for(std::chrono::milliseconds(200));
  CHECK(bench.ends.empty());
  close(writing);
  CHECK(bench.wait(run).outcome == Outcome::succeeded);
}

TEST_CASE("a small stack is enough") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_STACK, &before) == 0);
#ifdef BATON_SANITIZE
  constexpr rlim_t kBytes = 1'048'576;  // it holds the agent's stack as well: src/shim/main.cpp
#else
  constexpr rlim_t kBytes = 131'072;
#endif
  const rlimit small{kBytes, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_STACK, &small) == 0);
  Bench bench;
  const RunEnd end = bench.outcome_of(bench.shell("(setsid sleep 1000) & true"));
  setrlimit(RLIMIT_STACK, &before);
  CHECK(end.outcome == Outcome::succeeded);
}
