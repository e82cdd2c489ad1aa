// SPDX-License-Identifier: Apache-2.0
#include "io/agents/agents.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include <sys/mount.h>
#include <sys/resource.h>

#include <asio/posix/stream_descriptor.hpp>

#include "io/agents/run_outcome.h"
#include "io/bench.h"

using baton::Errc;
using baton::Found;
using baton::Launch;
using baton::Millis;
using baton::Outcome;
using baton::Run;
using baton::RunEnd;
using baton::RunState;
using baton::test::Bench;
using baton::test::slurp;
using baton::test::Stranger;
using baton::test::youngest_child_of;
namespace fs = std::filesystem;

namespace {

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

std::size_t children() {
  const std::string text = slurp("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}

/// True when it has ended and was our child.
bool reaped(const Run& run) {
  return waitpid(static_cast<pid_t>(run.pid), nullptr, WNOHANG) > 0;
}

void kill_shim(const Run& run) {
  REQUIRE(kill(static_cast<pid_t>(run.pid), SIGKILL) == 0);
}

void kill_and_wait(pid_t process) {
  REQUIRE(kill(process, SIGKILL) == 0);
  for (auto stat = baton::process_stat(process); stat && stat->alive();
       stat = baton::process_stat(process))
    usleep(1000);
}

/// With so many descriptors free and no more.
Found recovered_with(int free, Bench& bench, const Run& run) {
  rlimit plenty{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &plenty) == 0);
  const int next = dup(0);
  close(next);
  const rlimit few{static_cast<rlim_t>(next + free), plenty.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  Found found = bench.agents->recover(run);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &plenty) == 0);
  return found;
}

/// A fresh one; empty where none can be made.
fs::path cgroup_for_tests() {
  static int count = 0;
  const fs::path made = fs::path("/sys/fs/cgroup/unified") /
                        ("baton-test-" + std::to_string(getpid()) + "-" + std::to_string(++count));
  std::error_code error;
  return geteuid() == 0 && fs::create_directory(made, error) ? made : fs::path();
}

/// Agents get cgroups below it; empty where none can be made, which is said.
fs::path begin_in_cgroup(Bench& bench) {
  fs::path parent = cgroup_for_tests();
  if (parent.empty()) {
    MESSAGE("skipped: no cgroup v2 directory that could be written");
    return parent;
  }
  bench.cgroup = parent;
  bench.restart();
  return parent;
}

// A daemon of the worst kind: own session, two forks, no parent, deaf to TERM.
constexpr const char* kDaemon =
    "setsid sh -c 'trap \"\" TERM HUP; (trap \"\" TERM; while :; do sleep 1; done) & "
    "echo $$ > daemon; while :; do sleep 1; done' & ";

}  // namespace

TEST_CASE("an agent that exits with 0 has succeeded") {
  Bench bench;
  const Run run = bench.start(bench.shell("echo hello; echo woe >&2"));
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::succeeded);
  CHECK(end.exit_code == 0);
  CHECK(end.stdout_bytes == 6);
  CHECK(end.stderr_bytes == 4);
  CHECK_FALSE(end.leftovers);
  CHECK(Bench::out(run) == "hello\n");
  CHECK(slurp(run.directory + "/stderr.log") == "woe\n");
  CHECK(bench.agents->last_output(run));
}

TEST_CASE("exit status and signal become the reason of a failure") {
  Bench bench;
  const RunEnd exited = bench.outcome_of(bench.shell("exit 3"));
  CHECK(exited.outcome == Outcome::failed);
  CHECK(exited.exit_code == 3);
  CHECK(exited.reason == "exit_3");
  const RunEnd killed = bench.outcome_of(bench.shell("kill -KILL $$"));
  CHECK(killed.outcome == Outcome::failed);
  CHECK(killed.signal == SIGKILL);
  CHECK(killed.reason == "signal_KILL");
}

TEST_CASE("a program that cannot be entered is a failure with its own reason") {
  Bench bench;
  const Run missing = bench.start(bench.launch({"/no/such/program"}));
  const RunEnd end = bench.wait(missing);
  CHECK(end.outcome == Outcome::failed);
  CHECK(end.reason == "exec_failed");
  CHECK_FALSE(end.exit_code);
  CHECK(slurp(missing.directory + "/exit.json").find("No such file") != std::string::npos);
  CHECK(slurp(missing.directory + "/stderr.log") ==
        "baton: the program /no/such/program cannot be run: No such file or directory\n");
  CHECK(end.errors == slurp(missing.directory + "/stderr.log"));
  Launch nowhere = bench.shell("true");
  nowhere.cwd = "/no/such/folder";
  const RunEnd lost = bench.outcome_of(nowhere);
  CHECK(lost.reason == "exec_failed");
  CHECK(lost.errors ==
        "baton: the working directory /no/such/folder cannot be entered: No such file or "
        "directory\n");
}

TEST_CASE("a working directory that comes and goes costs no attempt") {
  Bench bench;
  const std::string here = bench.folder.path() + "/work";
  const std::string away = here + ".away";
  fs::create_directory(here);
  std::atomic<bool> enough = false;
  std::thread mover([&] {
    while (!enough) {
      fs::rename(here, away);
      fs::rename(away, here);
    }
  });
  int failed = 0;
  for (int count = 0; count < 100; ++count) {
    Launch launch = bench.shell("true");
    launch.cwd = here;
    if (bench.outcome_of(launch).outcome != Outcome::succeeded)
      ++failed;
  }
  enough = true;
  mover.join();
  CHECK(failed == 0);
}

TEST_CASE("the prompt is on stdin and in a file; without one stdin is empty") {
  Bench bench;
  Launch asked = bench.launch(
      {"/bin/sh", "-c", "cat; cat \"$0\"; cat \"$BATON_PROMPT_FILE\"", "${prompt_file}"});
  asked.prompt = "do it\n";
  const Run run = bench.start(asked);
  CHECK(bench.wait(run).outcome == Outcome::succeeded);
  CHECK(Bench::out(run) == "do it\ndo it\ndo it\n");
  const Run silent = bench.start(bench.shell("cat; readlink /proc/$$/fd/0"));
  CHECK(bench.wait(silent).outcome == Outcome::succeeded);
  CHECK(Bench::out(silent) == "/dev/null\n");
}

TEST_CASE(
    "the agent gets the environment it was given, its run's variables and descriptors 0 to 2") {
  Bench bench;
  REQUIRE(setenv("SECRET", "1", 1) == 0);
  Launch wanted = bench.launch({"/bin/sh", "-c",
                                "tr '\\0' '\\n' < /proc/$$/environ | sort; "
                                "ls /proc/$$/fd; grep SigBlk /proc/self/status; "
                                "grep SigIgn /proc/self/status; ulimit -c; "
                                "echo $0",
                                "${run_id} ${run_dir} ${other} $${"});
  wanted.env = {
      {"A", "with blank\nand line"}, {"PATH", "/usr/bin:/bin"}, {"BATON_RUN_ID", "forged"}};
  const Run run = bench.start(wanted);
  CHECK(bench.wait(run).outcome == Outcome::succeeded);
  CHECK(Bench::out(run) == "A=with blank\nBATON_PROMPT_FILE=" + run.directory +
                               "/prompt\nBATON_RUN_DIR=" + run.directory +
                               "\nBATON_RUN_ID=" + run.id +
                               "\nPATH=/usr/bin:/bin\nand line\n0\n1\n2\n"
                               "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\n" +
                               run.id + " " + run.directory + " ${other} ${\n");
  CHECK_FALSE(fs::exists(run.directory + "/launch"));  // it held the environment
}

TEST_CASE("what cannot be passed to a process is refused") {
  Bench bench;
  CHECK(bench.agents->prepare(bench.launch({"sh"})).error().code == Errc::usage);
  CHECK(bench.agents->prepare(bench.launch({"/bin/sh", std::string("a\0b", 3)})).error().code ==
        Errc::usage);
  Launch wanted = bench.shell("true");
  wanted.env = {{"A=B", "C"}};
  CHECK(bench.agents->prepare(wanted).error().code == Errc::usage);
  CHECK_FALSE(fs::exists(bench.folder / "runs"));
}

TEST_CASE("a discarded run never ran and leaves nothing") {
  Bench bench;
  const std::size_t before = children();
  const Run run = bench.prepare(bench.shell("touch ran"));
  bench.agents->discard(run.id);
  CHECK(bench.eventually([before] { return children() == before; }));
  CHECK_FALSE(fs::exists(run.directory));
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
  CHECK(bench.ends.empty());
  CHECK(bench.agents->release(run.id).error().code == Errc::not_found);
}

TEST_CASE("a daemon that dies before the release leaves nothing running, and the attempt is void") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("touch ran"));
  bench.restart();
  const Found found = bench.agents->recover(run);
  const RunEnd end = found.adopted ? bench.wait(run) : found.end;
  CHECK(end.outcome == Outcome::voided);
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE("a shim that is killed while it waits makes the attempt void") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("touch ran"));
  kill_shim(run);
  SUBCASE("release comes before the news") {}
  SUBCASE("release comes after the news") {
    bench.context->run_for(std::chrono::milliseconds(50));
  }
  CHECK(bench.agents->release(run.id));
  CHECK(bench.wait(run).outcome == Outcome::voided);
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE("an agent's process that is killed before the claim costs nothing") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("echo here"));
  bench.context->run_for(std::chrono::milliseconds(50));
  const pid_t first = youngest_child_of(static_cast<pid_t>(run.pid));
  REQUIRE(first > 0);
  kill_and_wait(first);
  pid_t second = first;
  REQUIRE(bench.eventually([&] {
    second = youngest_child_of(static_cast<pid_t>(run.pid));
    return second != first && second > 0;
  }));
  SUBCASE("once: there is another one") {
    // Longer than the shim waits for an entry: this one is not on its way yet.
    bench.context->run_for(std::chrono::milliseconds(3500));
    REQUIRE(baton::process_stat(second));
    REQUIRE(bench.agents->release(run.id));
    CHECK(bench.wait(run).outcome == Outcome::succeeded);
    CHECK(Bench::out(run) == "here\n");
  }
  SUBCASE("and again: it is void") {
    kill_and_wait(second);
    REQUIRE(bench.agents->release(run.id));
    CHECK(bench.wait(run).outcome == Outcome::voided);
    CHECK(Bench::out(run).empty());
  }
}

TEST_CASE("an agent's process that is stopped before the claim goes on") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("echo here"));
  const pid_t process = youngest_child_of(static_cast<pid_t>(run.pid));
  REQUIRE(process > 0);
  REQUIRE(kill(process, SIGSTOP) == 0);
  SUBCASE("to its start") {
    REQUIRE(bench.agents->release(run.id));
    CHECK(bench.wait(run).outcome == Outcome::succeeded);
    CHECK(Bench::out(run) == "here\n");
  }
  SUBCASE("or leaves with the daemon") {
    bench.restart();
    const Found found = bench.agents->recover(run);
    CHECK((found.adopted ? bench.wait(run) : found.end).outcome == Outcome::voided);
    CHECK_FALSE(baton::process_stat(process));
  }
}

TEST_CASE("an agent is ended on the way into its program") {
  Bench bench;
  // A folder that is away is waited for.
  Launch wanted = bench.shell("touch ran");
  wanted.cwd = bench.folder / "away";
  SUBCASE("when it is stopped") {
    const Run run = bench.start(wanted);
    REQUIRE(bench.eventually([&] { return fs::exists(run.directory + "/claim"); }));
    REQUIRE(bench.agents->stop(run));
    CHECK(bench.wait(run).outcome == Outcome::stopped);
  }
  SUBCASE("when its time is over") {
    wanted.limits.timeout = Millis(300);
    CHECK(bench.outcome_of(wanted).outcome == Outcome::timed_out);
  }
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE("a shim that gets TERM while it waits makes the attempt void") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("touch ran"));
  REQUIRE(kill(static_cast<pid_t>(run.pid), SIGTERM) == 0);
  bench.context->run_for(std::chrono::milliseconds(50));
  CHECK(bench.agents->release(run.id));
  CHECK(bench.wait(run).outcome == Outcome::voided);
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE("a claim somebody else has made burns the attempt") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("touch ran"));
  std::ofstream(run.directory + "/claim") << "mine";
  REQUIRE(bench.agents->release(run.id));
  CHECK(bench.wait(run).outcome == Outcome::unknown);
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE("logs stop at the cap and say how much was dropped") {
  Bench bench;
  Launch wanted = bench.shell("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2");
  wanted.limits.log_cap_bytes = 1000;
  const Run run = bench.start(wanted);
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::succeeded);
  CHECK(end.stdout_bytes == 3'000'000);
  CHECK(Bench::out(run) == std::string(1000, 'x') +
                               "\n[baton: log cap of 1000 bytes reached, 2999000 bytes dropped]\n");
  CHECK(slurp(run.directory + "/stderr.log") == "end\n");
  CHECK(slurp(run.directory + "/stdout.tail") == std::string(256U << 10U, 'x'));
  CHECK_FALSE(fs::exists(run.directory + "/stderr.tail"));
}

TEST_CASE("what an agent says at its end is judged, whatever came before") {
  Bench bench;
  for (const int before : {0, 990, 999, 1000, 1001, 5000, 262'100, 262'144, 263'140, 900'000}) {
    CAPTURE(before);
    Launch wanted = bench.shell("head -c " + std::to_string(before) +
                                " /dev/zero | tr '\\0' x; echo; echo PASS; echo no >&2");
    wanted.limits.log_cap_bytes = 1000;
    const RunEnd end = bench.outcome_of(wanted);
    const std::string all = std::string(static_cast<std::size_t>(before), 'x') + "\nPASS\n";
    CHECK(end.output.size() >= std::min(all.size(), baton::kOutputBytes));
    CHECK(all.ends_with(end.output));
    CHECK(end.errors == "no\n");
  }
}

TEST_CASE("a last line without newline is kept") {
  Bench bench;
  const Run run = bench.start(bench.shell("printf torn"));
  CHECK(bench.wait(run).stdout_bytes == 4);
  CHECK(Bench::out(run) == "torn");
}

TEST_CASE("stop ends the whole tree, also what has a session of its own and ignores TERM") {
  Bench bench;
  Launch wanted = bench.shell(std::string(kDaemon) + "sleep 1000");
  wanted.limits.kill_grace = Millis(300);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("daemon"));
  REQUIRE(bench.agents->stop(run));
  REQUIRE(bench.agents->stop(run));
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::stopped);
  CHECK(end.reason.empty());
  CHECK(bench.nothing_left(run));
  CHECK(bench.agents->stop(run));
}

TEST_CASE("a stopped agent hears TERM all the same") {
  Bench bench;
  const Run run =
      bench.start(bench.shell("trap 'exit 5' TERM; touch ready; kill -STOP $$; "
                              "while :; do sleep 0.05; done"));
  REQUIRE(bench.wait_for("ready"));
  REQUIRE(bench.agents->stop(run));
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::stopped);
  CHECK(end.exit_code == 5);
}

TEST_CASE("a TERM that nobody here asked for is an interruption") {
  Bench bench;
  const Run run = bench.start(bench.shell("touch ready; sleep 1000"));
  REQUIRE(bench.wait_for("ready"));
  REQUIRE(kill(static_cast<pid_t>(run.pid), SIGTERM) == 0);
  CHECK(bench.wait(run).outcome == Outcome::interrupted);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("an agent that ends with its own status when a machine goes down was interrupted") {
  Bench bench;
  const auto end_after = [&bench](const std::string& status) {
    const std::string ready = "ready" + status;
    const Run run = bench.start(bench.shell("trap 'exit " + status + "' TERM; touch " + ready +
                                            "; while :; do sleep 0.05; done"));
    REQUIRE(bench.wait_for(ready));
    const auto shim = static_cast<pid_t>(run.pid);
    const pid_t agent = youngest_child_of(shim);
    // Everybody hears TERM at once; here the agent has ended before its shim listens.
    REQUIRE(kill(shim, SIGSTOP) == 0);
    REQUIRE(kill(agent, SIGTERM) == 0);
    REQUIRE(bench.eventually([agent] { return !baton::process_stat(agent)->alive(); }));
    REQUIRE(kill(shim, SIGTERM) == 0);
    REQUIRE(kill(shim, SIGCONT) == 0);
    return bench.wait(run);
  };
  CHECK(end_after("143").outcome == Outcome::interrupted);
  CHECK(end_after("0").outcome == Outcome::succeeded);
}

TEST_CASE("a run stopped before its release never runs") {
  Bench bench;
  const Run run = bench.prepare(bench.shell("touch ran"));
  REQUIRE(bench.agents->stop(run));
  CHECK(bench.wait(run).outcome == Outcome::voided);
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE(
    "a grandchild that holds stdout open is ended with the agent and does not delay its end") {
  Bench bench;
  const Run run = bench.start(bench.shell("(setsid sleep 1000) & echo done"));
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::succeeded);
  CHECK(end.leftovers);
  CHECK(Bench::out(run) == "done\n");
  CHECK(bench.nothing_left(run));
}

TEST_CASE("a shim that stood still beyond the wall limit ends its agent when it is told to") {
  Bench bench;
  Launch wanted = bench.shell("touch ready; sleep 1000");
  wanted.limits.timeout = Millis(1000);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("ready"));
  REQUIRE(kill(static_cast<pid_t>(run.pid), SIGSTOP) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  REQUIRE(bench.agents->stop(run));
  CHECK(bench.wait(run).outcome == Outcome::timed_out);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("a shim that its agent has stopped is made to go on, and ends the agent in time") {
  Bench bench;
  auto options = bench.options();
  options.look_every = Millis(50);
  bench.agents = baton::process_agents(*bench.context, options, [&](const baton::RunEnded& ended) {
    bench.ends.push_back(ended.end);
  });
  Launch wanted = bench.shell("kill -STOP $PPID; sleep 1000");
  wanted.limits.idle_timeout = Millis(300);
  const Run run = bench.start(wanted);
  CHECK(bench.wait(run).outcome == Outcome::stalled);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("why a shim has refused a start is the reason") {
  Bench bench;
  const auto shim = [&](int code) {
    const fs::path path = bench.folder / "shim";
    std::ofstream(path) << "#!/bin/sh\ndd bs=1 count=1 <&5 2>/dev/null\nexit " << code << "\n";
    fs::permissions(path, fs::perms::owner_all);
    auto options = bench.options();
    options.shim = path;
    bench.agents = baton::process_agents(
        *bench.context, options,
        [&](const baton::RunEnded& ended) { bench.ends.push_back(ended.end); });
    return bench.outcome_of(bench.shell("touch ran"));
  };
  for (const auto& row : {std::pair(112, "shim_misfit"), std::pair(113, "shim_unready"),
                          std::pair(111, "not_claimed"), std::pair(1, "not_claimed")}) {
    CAPTURE(row.first);
    const RunEnd end = shim(row.first);
    CHECK(end.outcome == Outcome::voided);
    CHECK(end.reason == row.second);
  }
  CHECK_FALSE(fs::exists(bench.folder / "ran"));
}

TEST_CASE("as PID 1, one root does not take the exit status of another root's shim") {
  Bench bench;
  const fs::path path = bench.folder / "shim";
  std::ofstream(path) << "#!/bin/sh\ndd bs=1 count=1 <&5 2>/dev/null\nexit 112\n";
  fs::permissions(path, fs::perms::owner_all);
  auto options = bench.options();
  options.reap_others = true;
  auto others = options;
  others.runs.path = bench.folder / "others";
  const auto other =
      baton::process_agents(*bench.context, others, [](const baton::RunEnded&) { CHECK(false); });
  options.shim = path;
  bench.agents = baton::process_agents(*bench.context, options, [&](const baton::RunEnded& ended) {
    bench.ends.push_back(ended.end);
  });
  for (int turn = 0; turn < 20; ++turn)
    CHECK(bench.outcome_of(bench.shell("true")).reason == "shim_misfit");
}

TEST_CASE("the wall limit ends an agent that goes on and on") {
  Bench bench;
  Launch wanted = bench.shell("while :; do echo x; sleep 0.02; done");
  wanted.limits.timeout = Millis(300);
  CHECK(bench.outcome_of(wanted).outcome == Outcome::timed_out);
}

TEST_CASE("the idle limit ends an agent that says nothing") {
  Bench bench;
  Launch wanted = bench.shell("echo x; sleep 1000");
  wanted.limits.idle_timeout = Millis(300);
  const Run run = bench.start(wanted);
  CHECK(bench.wait(run).outcome == Outcome::stalled);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("when a shim is killed its agent's tree is ended and the end is unknown") {
  Bench bench;
  Launch wanted = bench.shell(std::string(kDaemon) + "echo $$ > agent; sleep 1000");
  wanted.limits.kill_grace = Millis(200);
  Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("daemon"));
  REQUIRE(bench.wait_for("agent"));
  Outcome expected = Outcome::unknown;
  SUBCASE("while the daemon watches") {
    kill_shim(run);
  }
  SUBCASE("after the daemon has died") {
    bench.restart();
    kill_shim(run);
    CHECK(bench.agents->recover(run).adopted);
  }
  SUBCASE("after a stop was written down") {
    bench.restart();
    kill_shim(run);
    run.state = RunState::stopping;
    expected = Outcome::stopped;
    CHECK(bench.agents->recover(run).adopted);
  }
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == expected);
  CHECK(end.reason == (expected == Outcome::unknown ? "shim_killed" : ""));
  CHECK(end.leftovers);
  CHECK(bench.nothing_left(run));
}

TEST_CASE(
    "an exit file counts only if its shim was seen to exit well, or nothing of the run lives") {
  Bench bench;
  const std::string forged =
      "printf '{\"version\":1,\"run_id\":\"%s\",\"cause\":\"exit\",\"exit_code\":0}' $BATON_RUN_ID "
      "> $BATON_RUN_DIR/exit.json; ";
  const Run run = bench.start(bench.shell(
      forged + "touch ready; while [ ! -e go ]; do sleep 0.02; done; kill -KILL $PPID; exit 0"));
  REQUIRE(bench.wait_for("ready"));
  SUBCASE("seen to be killed") {
    baton::test::write(bench.folder / "go", "");
    const RunEnd end = bench.wait(run);
    CHECK(end.outcome == Outcome::unknown);
    CHECK(end.reason == "shim_killed");
    CHECK(end.error.find("may still run") != std::string::npos);
  }
  SUBCASE("not seen, and nothing lives") {
    bench.restart();
    baton::test::write(bench.folder / "go", "");
    REQUIRE(bench.eventually([&] { return reaped(run) && bench.nothing_left(run); }));
    const Found found = bench.agents->recover(run);
    CHECK((found.adopted ? bench.wait(run) : found.end).outcome == Outcome::succeeded);
  }
}

TEST_CASE("a daemon that comes back adopts its agents and hears how they end") {
  Bench bench;
  const Run run =
      bench.start(bench.shell("touch ready; while [ ! -e go ]; do sleep 0.02; done; exit 4"));
  REQUIRE(bench.wait_for("ready"));
  bench.restart();
  CHECK(bench.agents->recover(run).adopted);
  baton::test::write(bench.folder / "go", "");
  const RunEnd end = bench.wait(run);
  CHECK(end.outcome == Outcome::failed);
  CHECK(end.exit_code == 4);
}

TEST_CASE("an end that came while no daemon was there is found, again and again") {
  Bench bench;
  const Run run = bench.start(bench.shell("exit 4"));
  bench.agents.reset();
  REQUIRE(bench.eventually([&] { return fs::exists(run.directory + "/exit.json"); }));
  for (int turn = 0; turn < 2; ++turn) {
    bench.restart();
    bench.ends.clear();
    const Found found = bench.agents->recover(run);
    const RunEnd end = found.adopted ? bench.wait(run) : found.end;
    CHECK(end.reason == "exit_4");
  }
}

TEST_CASE("an adopted agent can be stopped, also by a wish written down before") {
  Bench bench;
  Run run = bench.start(bench.shell("touch ready; sleep 1000"));
  REQUIRE(bench.wait_for("ready"));
  bench.restart();
  SUBCASE("asked now") {
    CHECK(bench.agents->recover(run).adopted);
    REQUIRE(bench.agents->stop(run));
  }
  SUBCASE("asked before") {
    run.state = RunState::stopping;
    CHECK(bench.agents->recover(run).adopted);
  }
  CHECK(bench.wait(run).outcome == Outcome::stopped);
  CHECK(bench.nothing_left(run));
}

TEST_CASE("a process number in other hands gets no signal") {
  Bench bench;
  const Stranger stranger;
  Run run = bench.start(bench.shell("touch ready; while [ ! -e go ]; do sleep 0.02; done"));
  REQUIRE(bench.wait_for("ready"));
  bench.restart();
  run.pid = stranger.pid();
  SUBCASE("with another start time") {}
  SUBCASE("with its own start time") {
    run.start_ticks = baton::process_stat(stranger.pid())->start_ticks;
  }
  // The lock tells that it lives, but not who it is.
  CHECK(bench.agents->recover(run).adopted);
  CHECK(bench.agents->stop(run).error().code == Errc::io);
  CHECK(stranger.unhurt());
  baton::test::write(bench.folder / "go", "");
  CHECK(bench.wait(run).outcome == Outcome::succeeded);
  CHECK(stranger.unhurt());
}

TEST_CASE("a forged record of the agent sends no signal to a stranger") {
  Bench bench;
  const Stranger stranger;
  const Run run = bench.prepare(bench.shell("true"));
  std::ofstream(run.directory + "/claim") << "pid 1\n";
  std::ofstream(run.directory + "/agent") << "pid " << stranger.pid() << "\nstart_ticks 1\nboot_id "
                                          << run.boot_id << "\nsession " << stranger.pid() << "\n";
  REQUIRE(bench.agents->release(run.id));
  CHECK(bench.wait(run).outcome == Outcome::unknown);
  CHECK(stranger.unhurt());
}

TEST_CASE("a forged record of the agent leads to processes of the owner of its folder only") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can make a process of another user");
    return;
  }
  constexpr uid_t kOther = 12345;
  for (const uid_t user : {geteuid(), kOther}) {
    CAPTURE(user);
    Bench bench;
    const Stranger stranger(user);
    const Run run = bench.start(bench.shell("touch ready; sleep 1000"));
    REQUIRE(bench.wait_for("ready"));
    baton::test::write(fs::path(run.directory) / "agent",
                       "pid " + std::to_string(stranger.pid()) + "\nstart_ticks " +
                           std::to_string(baton::process_stat(stranger.pid())->start_ticks) +
                           "\nboot_id " + run.boot_id + "\nsession " +
                           std::to_string(stranger.pid()) + "\n");
    kill_shim(run);
    const RunEnd end = bench.wait(run);
    CHECK(end.outcome == Outcome::unknown);
    CHECK(end.reason == (user == kOther ? "could_not_stop" : "shim_killed"));
    CHECK(stranger.unhurt() == (user == kOther));
  }
}

TEST_CASE("after a reboot an exit file still counts, and without one the run was interrupted") {
  Bench bench;
  Run run = bench.start(bench.shell("exit 4"));
  bench.wait(run);
  bench.restart();
  run.boot_id = "another";
  CHECK(bench.agents->recover(run).end.reason == "exit_4");
  fs::remove(run.directory + "/exit.json");
  const Found found = bench.agents->recover(run);
  CHECK_FALSE(found.adopted);
  CHECK(found.end.outcome == Outcome::interrupted);
  CHECK(found.end.reason == "other_boot");
}

TEST_CASE("after a reboot an exit file that cannot be read at present is read later") {
  Bench bench;
  for (int free = 0; free < 4; ++free) {
    CAPTURE(free);
    bench.restart();
    Run run = bench.start(bench.shell("exit 4"));
    bench.wait(run);
    bench.restart();
    run.boot_id = "another";
    const Found found = recovered_with(free, bench, run);
    CHECK((found.adopted ? bench.wait(run) : found.end).reason == "exit_4");
  }
}

TEST_CASE("a run whose folder is gone is not void, for it may have been claimed") {
  Bench bench;
  const Run run = bench.start(bench.shell("true"));
  bench.wait(run);
  bench.restart();
  REQUIRE(baton::remove_run_directory(run.directory));
  const Found found = bench.agents->recover(run);
  CHECK_FALSE(found.adopted);
  CHECK(found.end.outcome == Outcome::unknown);
  CHECK(found.end.reason == "run_directory_missing");
}

TEST_CASE("what an agent does to its folder does not save it when its shim is killed") {
  Bench bench;
  std::string mischief;
  SUBCASE("the folder removed") {
    mischief = "rm -r $BATON_RUN_DIR";
  }
  SUBCASE("a file in its place") {
    mischief = "rm -r $BATON_RUN_DIR; echo x > $BATON_RUN_DIR";
  }
  SUBCASE("a link in its place") {
    mischief = "rm -r $BATON_RUN_DIR; ln -s /tmp $BATON_RUN_DIR";
  }
  SUBCASE("lock and claim removed") {
    mischief = "cd $BATON_RUN_DIR; rm lock claim";
  }
  SUBCASE("everything in it removed") {
    mischief = "cd $BATON_RUN_DIR; rm *";
  }
  SUBCASE("the claim taken back") {
    mischief = "cd $BATON_RUN_DIR; mv claim .claim";
  }
  SUBCASE("an exit file that is none") {
    mischief = "cd $BATON_RUN_DIR; echo '{}' > exit.json";
  }
  SUBCASE("an exit file that says it ended well") {
    mischief =
        "printf '{\"version\":1,\"run_id\":\"%s\",\"cause\":\"exit\",\"exit_code\":0}' "
        "$BATON_RUN_ID "
        "> $BATON_RUN_DIR/exit.json";
  }
  SUBCASE("the lock made anew, and taken") {
    mischief = "cd $BATON_RUN_DIR; rm lock; exec 9>lock; flock 9";
  }
  SUBCASE("a folder in place of the lock") {
    mischief = "cd $BATON_RUN_DIR; rm lock; mkdir lock";
  }
  SUBCASE("a link in place of the lock") {
    mischief = "cd $BATON_RUN_DIR; rm lock; ln -s nowhere lock";
  }
  for (const bool adopted : {false, true}) {
    CAPTURE(adopted);
    Launch wanted = bench.shell(mischief + "; touch $0; sleep 1000");
    const std::string ready = adopted ? "ready1" : "ready0";
    wanted.argv.push_back(bench.folder / ready);
    const Run run = bench.start(wanted);
    REQUIRE(bench.wait_for(ready));
    kill_shim(run);
    CHECK_FALSE(baton::unrecorded_end(run));  // while it lives
    if (adopted) {
      bench.restart();
      CHECK(bench.agents->recover(run).adopted);
    }
    const RunEnd end = bench.wait(run);
    CHECK(end.outcome == Outcome::unknown);
    CHECK(bench.nothing_left(run));
    fs::remove_all(bench.folder / "runs");
  }
}

TEST_CASE("an agent without its variables that has taken the lock does not outlive its shim") {
  Bench bench;
  const Run run = bench.start(
      bench.shell("cd $BATON_RUN_DIR; rm lock; exec 9>lock; flock 9; echo $$ > pid.tmp; "
                  "mv pid.tmp \"$OLDPWD/pid\"; exec env -i sleep 1000"));
  REQUIRE(bench.wait_for("pid"));
  const std::int64_t agent = std::stoll(bench.text("pid"));
  REQUIRE(bench.nothing_left(run));  // as far as the variables tell
  kill_shim(run);
  CHECK(bench.wait(run).outcome == Outcome::unknown);
  const auto stat = baton::process_stat(agent);
  CHECK((!stat || !stat->alive()));
}

TEST_CASE("an agent adopted for want of descriptors can be stopped as soon as there are some") {
  Bench bench;
  for (int free = 0; free < 6; ++free) {
    CAPTURE(free);
    bench.restart();
    Run run = bench.start(bench.shell("touch $BATON_RUN_DIR/ready; sleep 1000"));
    REQUIRE(bench.eventually([&] { return fs::exists(run.directory + "/ready"); }));
    bench.restart();
    const Found found = recovered_with(free, bench, run);
    CHECK(found.adopted);
    CHECK(bench.agents->stop(run));
    CHECK(bench.wait(run).outcome == Outcome::stopped);
    CHECK(bench.nothing_left(run));
  }
}

TEST_CASE("a claim that was removed is none that was never made") {
  Bench bench;
  const Run run = bench.start(bench.shell("rm $BATON_RUN_DIR/claim; kill -KILL $PPID"));
  CHECK(bench.wait(run).outcome == Outcome::unknown);
}

TEST_CASE("nothing an agent makes in its folder keeps its end from being written down") {
  Bench bench;
  const Run run = bench.start(
      bench.shell("cd $BATON_RUN_DIR; mkdir -p exit.json/x .exit.json.tmp; chmod 500 .; exit 4"));
  CHECK(bench.wait(run).reason == "exit_4");
  CHECK(fs::is_regular_file(run.directory + "/exit.json"));
}

TEST_CASE("without a boot's id living agents are adopted, and others may have lost the power") {
  Bench bench;
  Run run;
  SUBCASE("alive") {
    run = bench.start(bench.shell("while [ ! -e go ]; do sleep 0.02; done; exit 4"));
    bench.restart();
    run.boot_id.clear();
    CHECK(bench.agents->recover(run).adopted);
    baton::test::write(bench.folder / "go", "");
    CHECK(bench.wait(run).reason == "exit_4");
  }
  SUBCASE("claimed, and nothing of it is left") {
    run = bench.start(bench.shell("touch ready; exec sleep 1000"));
    REQUIRE(bench.wait_for("ready"));
    bench.restart();
    kill_shim(run);
    for (const std::int64_t process : baton::test::processes_with("BATON_RUN_ID=" + run.id))
      kill(static_cast<pid_t>(process), SIGKILL);
    REQUIRE(bench.eventually([&] { return reaped(run) && bench.nothing_left(run); }));
    run.boot_id.clear();
    CHECK(baton::unrecorded_end(run)->outcome == Outcome::interrupted);
    const Found found = bench.agents->recover(run);
    CHECK_FALSE(found.adopted);
    CHECK(found.end.outcome == Outcome::interrupted);
  }
  SUBCASE("not claimed, or the claim was lost with the power") {
    run = bench.prepare(bench.shell("true"));
    bench.restart();
    REQUIRE(bench.eventually([&] { return !baton::process_stat(run.pid) || reaped(run); }));
    run.boot_id.clear();
    const Found found = bench.agents->recover(run);
    CHECK_FALSE(found.adopted);
    CHECK(found.end.outcome == Outcome::interrupted);
    CHECK(baton::unrecorded_end(run)->outcome == Outcome::interrupted);
  }
}

TEST_CASE("a damaged exit file tells that the run has ended, and nothing more") {
  Bench bench;
  const Run run = bench.start(bench.shell("exit 4"));
  bench.wait(run);
  bench.restart();
  const std::string whole = slurp(run.directory + "/exit.json");
  for (std::size_t cut = 0; cut < whole.size() - 2; cut += 7) {
    CAPTURE(cut);
    std::ofstream(run.directory + "/exit.json") << whole.substr(0, cut);
    const Found found = bench.agents->recover(run);
    CHECK_FALSE(found.adopted);
    CHECK(found.end.outcome == Outcome::unknown);
    CHECK(found.end.reason == "exit_file_damaged");
  }
}

TEST_CASE("what a run could not end has not lived through a new start of the system") {
  Bench bench;
  Run run = bench.start(bench.shell("exit 4"));
  bench.wait(run);
  bench.restart();
  std::string record = slurp(run.directory + "/exit.json");
  const std::string none = "\"survivors\": 0";
  REQUIRE(record.find(none) != std::string::npos);
  record.replace(record.find(none), none.size(), "\"survivors\": 1");
  std::ofstream(run.directory + "/exit.json") << record;
  for (const bool anew : {false, true}) {
    CAPTURE(anew);
    if (anew)
      run.boot_id = "another";
    const std::string reason = anew ? baton::kLookedAfter : baton::kCouldNotStop;
    CHECK(baton::unrecorded_end(run)->reason == reason);
    CHECK(bench.agents->recover(run).end.reason == reason);
  }
}

TEST_CASE("200 quick starts leave no zombie and no descriptor") {
  Bench bench;
  bench.outcome_of(bench.launch({"/bin/true"}));
  const std::size_t before = open_descriptors();
  const std::size_t children_before = children();
  for (int round = 0; round < 10; ++round) {
    std::vector<Run> runs;
    runs.reserve(20);
    for (int i = 0; i < 20; ++i)
      runs.push_back(bench.start(bench.launch({"/bin/true"})));
    for (const Run& run : runs)
      CHECK(bench.wait(run).outcome == Outcome::succeeded);
  }
  CHECK(open_descriptors() == before);
  CHECK(children() == children_before);
}

TEST_CASE("a spare shim becomes the next run, is nobody's before, and leaves with us") {
  Bench bench;
  bench.keep_spare = true;
  bench.restart();
  const std::size_t before = children();
  const auto spares = [&] {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(bench.folder / "runs/.spare"))
      names.push_back(entry.path().filename());
    return names;
  };
  bench.outcome_of(bench.shell("true"));
  REQUIRE(bench.eventually([&] { return spares().size() == 1; }));
  CHECK(children() == before + 1);
  const std::string id = spares()[0];
  CHECK_FALSE(fs::exists(fs::path(bench.folder / "runs") / id));

  SUBCASE("it is used") {
    Launch wanted = bench.shell("cat");
    wanted.prompt = "do it";
    const Run run = bench.start(wanted);
    CHECK(run.id == id);
    CHECK(bench.wait(run).outcome == Outcome::succeeded);
    CHECK(Bench::out(run) == "do it");
    CHECK(bench.eventually([&] { return spares().size() == 1 && spares()[0] != id; }));
    CHECK(children() == before + 1);
  }
  SUBCASE("it is used and discarded") {
    const Run run = bench.prepare(bench.shell("true"));
    CHECK(run.id == id);
    bench.agents->discard(run.id);
    CHECK_FALSE(fs::exists(run.directory));
    CHECK(bench.eventually([&] { return spares().size() == 1 && children() == before + 1; }));
  }
  SUBCASE("an agent's process that was killed while it waited is made anew") {
    const pid_t agent = youngest_child_of(youngest_child_of(getpid()));
    REQUIRE(agent > 0);
    kill_and_wait(agent);
    const Run run = bench.start(bench.shell("echo here"));
    CHECK(run.id == id);
    CHECK(bench.wait(run).reason == "");
    CHECK(Bench::out(run) == "here\n");
  }
  SUBCASE("one that was killed takes the agent's process with it and is replaced") {
    const pid_t spare = youngest_child_of(getpid());
    const pid_t agent = youngest_child_of(spare);
    REQUIRE(agent > 0);
    kill_and_wait(spare);
    CHECK(bench.eventually([agent] { return !baton::process_stat(agent); }));
    const RunEnd end = bench.outcome_of(bench.shell("true"));
    CHECK(end.outcome == Outcome::succeeded);
    CHECK(end.run != id);
  }
  SUBCASE("one whose directory was removed is replaced") {
    fs::remove_all(bench.folder / "runs/.spare");
    CHECK(bench.outcome_of(bench.shell("true")).outcome == Outcome::succeeded);
  }
  SUBCASE("what is left of one after a crash is swept") {
    fs::create_directories(bench.folder / "runs/.spare/left");
    bench.restart();
    CHECK_FALSE(fs::exists(bench.folder / "runs/.spare"));
    bench.outcome_of(bench.shell("true"));
    CHECK(bench.eventually([&] { return spares().size() == 1; }));
  }
  bench.agents.reset();
  CHECK(spares().empty());
  CHECK(bench.eventually([before] {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {}
    return children() <= before;
  }));
}

// The reactor keeps what it knows of a descriptor for the next one: what was ready when it was
// given up, and not looked at yet, is told of its successor.
TEST_CASE("a shim whose descriptor is told ready without being so has not ended") {
  Bench bench;
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(write(ends[1], "x", 1) == 1);
  asio::posix::stream_descriptor one(*bench.context, ends[0]);
  asio::posix::stream_descriptor other(*bench.context, dup(ends[0]));
  std::optional<Run> run;
  // Both are ready at once; the first one told gives the other one up.
  const auto on_ready = [&](asio::posix::stream_descriptor& successor) {
    return [&](const asio::error_code& error) {
      if (error || run)
        return;
      successor.close();
      run = bench.start(bench.shell("touch begun; sleep 0.3; touch ran"));
      for (int turn = 0; turn < 3000 && !fs::exists(bench.folder / "begun"); ++turn)
        usleep(10'000);
    };
  };
  one.async_wait(asio::posix::stream_descriptor::wait_read, on_ready(other));
  other.async_wait(asio::posix::stream_descriptor::wait_read, on_ready(one));
  REQUIRE(bench.eventually([&] { return run.has_value(); }));
  const RunEnd end = bench.wait(*run);
  CHECK(end.outcome == Outcome::succeeded);
  CHECK(end.reason == "");
  CHECK(fs::exists(bench.folder / "ran"));
  close(ends[1]);
}

TEST_CASE("without a shim to start, prepare leaves nothing behind") {
  Bench bench;
  auto options = bench.options();
  options.shim = "/no/such/shim";
  const auto agents = baton::process_agents(*bench.context, options, [](const baton::RunEnded&) {});
  const std::size_t before = open_descriptors();
  CHECK_FALSE(agents->prepare(bench.shell("true")));
  CHECK(open_descriptors() == before);
  CHECK(fs::is_empty(bench.folder / "runs/.spare"));
}

TEST_CASE("on a full disk nothing is prepared, and an end waits for room") {
  Bench bench;
  const fs::path runs = bench.folder / "runs";
  fs::create_directory(runs);
  if (geteuid() != 0 || mount("tmpfs", runs.c_str(), "tmpfs", 0, "size=64k") != 0) {
    MESSAGE("skipped: only root can mount a small file system");
    return;
  }
  const Run run = bench.start(bench.shell("touch ready; while [ ! -e go ]; do sleep 0.02; done"));
  REQUIRE(bench.wait_for("ready"));
  const std::string filler = runs / "filler";
  const auto fill = [&] {
    std::ofstream file(filler, std::ios::binary);
    file << std::string(1U << 20U, 'x') << std::flush;
  };
  fill();
  const auto full = bench.agents->prepare(bench.shell("true"));
  CHECK(full.error().code == Errc::no_space);
  baton::test::write(bench.folder / "go", "");
  for (int turn = 0; turn < 30; ++turn)
    bench.context->run_for(std::chrono::milliseconds(10));
  CHECK(bench.ends.empty());
  CHECK(baton::process_stat(run.pid)->alive());
  fs::remove(filler);
  CHECK(bench.wait(run).outcome == Outcome::succeeded);
  CHECK(umount2(runs.c_str(), MNT_DETACH) == 0);
}

TEST_CASE("with a cgroup of our own the agent's tree lies in it, and it is removed afterwards") {
  Bench bench;
  const fs::path parent = begin_in_cgroup(bench);
  if (parent.empty())
    return;
  Launch wanted = bench.shell("grep '^0::' /proc/self/cgroup; " + std::string(kDaemon) +
                              "touch ready; sleep 1000");
  wanted.limits.kill_grace = Millis(100);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("daemon"));
  REQUIRE(bench.wait_for("ready"));
  REQUIRE(bench.agents->stop(run));
  CHECK(bench.wait(run).outcome == Outcome::stopped);
  CHECK(Bench::out(run).find("run-" + run.id) != std::string::npos);
  CHECK(bench.nothing_left(run));
  CHECK_FALSE(fs::exists(parent / ("run-" + run.id)));
  CHECK(fs::remove(parent));
}

TEST_CASE("the cgroup of a run whose shim was killed before the claim is removed") {
  Bench bench;
  const fs::path parent = begin_in_cgroup(bench);
  if (parent.empty())
    return;
  const Run run = bench.prepare(bench.shell("true"));
  REQUIRE(bench.eventually([&] { return fs::exists(parent / ("run-" + run.id)); }));
  const pid_t process = youngest_child_of(static_cast<pid_t>(run.pid));
  kill_and_wait(static_cast<pid_t>(run.pid));
  // Until then it might still make the claim.
  REQUIRE(bench.eventually([&] {
    const auto stat = baton::process_stat(process);
    return !stat || !stat->alive();
  }));
  SUBCASE("while the daemon watches") {
    REQUIRE(bench.agents->release(run.id));
    CHECK(bench.wait(run).outcome == Outcome::voided);
  }
  SUBCASE("and found by the next one") {
    bench.restart();
    const Found found = bench.agents->recover(run);
    CHECK((found.adopted ? bench.wait(run) : found.end).outcome == Outcome::voided);
  }
  CHECK_FALSE(fs::exists(parent / ("run-" + run.id)));
  CHECK(fs::remove(parent));
}

TEST_CASE("what an agent puts into cgroups below its own is ended with it, and they are removed") {
  Bench bench;
  const fs::path parent = begin_in_cgroup(bench);
  if (parent.empty())
    return;
  Launch wanted = bench.shell(
      "own=$0/run-$BATON_RUN_ID; mkdir -p $own/a/b $own/c; "
      "env -i setsid sh -c 'echo $$ > '$own'/a/b/cgroup.procs; echo $$ > pid.tmp; "
      "mv pid.tmp pid; exec sleep 1000' & while [ ! -e pid ]; do sleep 0.02; done; "
      "touch ready; sleep 1000");
  wanted.argv.push_back(parent);
  wanted.limits.kill_grace = Millis(100);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("ready"));
  SUBCASE("by its shim") {
    REQUIRE(bench.agents->stop(run));
  }
  SUBCASE("when its shim was killed") {
    kill_shim(run);
  }
  bench.wait(run);
  const auto hidden = baton::process_stat(std::stoll(bench.text("pid")));
  CHECK((!hidden || !hidden->alive()));
  CHECK_FALSE(fs::exists(parent / ("run-" + run.id)));
  CHECK(fs::remove(parent));
}

TEST_CASE("a forged record of the agent's cgroup hurts nobody in it") {
  Bench bench;
  fs::path parent = cgroup_for_tests();
  if (parent.empty()) {
    MESSAGE("skipped: no cgroup v2 directory that could be written");
    return;
  }
  const Stranger stranger;
  std::ofstream(parent / "cgroup.procs") << stranger.pid();
  Launch wanted = bench.shell("echo cgroup $0 >> $BATON_RUN_DIR/agent; touch ready; sleep 1000");
  wanted.argv.push_back(parent);
  const Run run = bench.start(wanted);
  REQUIRE(bench.wait_for("ready"));
  kill_shim(run);
  CHECK(bench.wait(run).outcome == Outcome::unknown);
  CHECK(stranger.unhurt());
  std::ofstream("/sys/fs/cgroup/unified/cgroup.procs") << stranger.pid();
  CHECK(fs::remove(parent));
}
