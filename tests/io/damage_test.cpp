// SPDX-License-Identifier: Apache-2.0

// Every small file that is read back, cut at each byte and with each byte flipped: never a crash,
// never a second start, never a signal to a stranger. The journal has tests of its own.

#include <filesystem>
#include <functional>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/text.h"
#include "io/agents/run_directory.h"
#include "io/agents/run_end.h"
#include "io/bench.h"
#include "io/files/lock.h"
#include "io/system/requests.h"
#include "io/system/spawn.h"
#include "shim/protocol.h"

namespace baton {

using test::Bench;
using test::slurp;
using test::TempFolder;

namespace {

struct Damage {
  std::string text;
  bool cut;
};

/// Every beginning, and every byte with its lowest and with its highest bit flipped.
void each_damage(const std::string& whole, const std::function<void(const Damage&)>& use) {
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    use({whole.substr(0, at), true});
    for (const unsigned mask : {0x01U, 0x80U}) {
      std::string text = whole;
      text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ mask);
      use({std::move(text), false});
    }
  }
}

std::string exit_file_of(Bench& bench) {
  const Run run = bench.start(bench.shell("exit 4"));
  bench.wait(run);
  return slurp(run.directory + "/exit.json");
}

/// A go-pipe that is closed after the first byte: leave, nothing is to run.
Fd told_to_leave() {
  int ends[2] = {-1, -1};
  REQUIRE(pipe2(&ends[0], O_CLOEXEC) == 0);
  Fd reading(ends[0]);
  REQUIRE(write(ends[1], "", 1) == 1);
  close(ends[1]);
  return reading;
}

/// How a process ends; the number of a signal that ended it.
int status_of(const Fd& process) {
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  constexpr int kPatienceMs = 60'000;
  REQUIRE(poll(&ended, 1, kPatienceMs) == 1);
  return reap(process).value_or(-1);
}

/// How a shim ends that is called with this run directory; the number of a signal that ended it.
/// Without a grace it is told this launch and then to leave.
int status_of_shim(const std::string& directory, const char* mode, const std::string& run,
                   const char* grace, const std::string& notified = {}) {
  auto folder = open_run_directory(directory);
  REQUIRE(folder);
  auto lock = take_run_lock(*folder);
  REQUIRE((lock && *lock));
  const Fd reading = told_to_leave();
  const Fd launch(memfd_create("launch", MFD_CLOEXEC));
  REQUIRE(write_all(launch.get(), notified, "launch"));
  const Fd prompt(memfd_create("prompt", MFD_CLOEXEC));
  ShimCall call{
      .argv = {BATON_SHIM, shim::kCallVersion, mode, run},
      .descriptors = {{folder->get(), shim::kDirectoryFd}, {(*lock)->get(), shim::kLockFd}}};
  if (grace != nullptr)
    call.argv.insert(call.argv.end(), {grace, ""});
  else
    call.descriptors.insert(call.descriptors.end(), {{reading.get(), shim::kGoFd},
                                                     {launch.get(), shim::kLaunchFd},
                                                     {prompt.get(), shim::kPromptFd}});
  const auto started = spawn_shim(call);
  REQUIRE(started);
  return status_of(started->process);
}

}  // namespace

TEST_CASE("exit.json cut or damaged anywhere is refused, or still of the same run") {
  Bench bench;
  const std::string whole = exit_file_of(bench);
  const auto good = parse_exit(whole, "exit.json");
  REQUIRE(good);
  std::size_t refused = 0;
  each_damage(whole, [&](const Damage& damage) {
    const auto exit = parse_exit(damage.text, "exit.json");
    refused += exit ? 0U : 1U;
    // Only the newline behind the last brace may be missing.
    if (damage.cut)
      CHECK((!exit || damage.text.size() + 1 == whole.size()));
    if (exit)
      CHECK_FALSE(run_end(*exit, false).outcome == Outcome::none);
  });
  CHECK(refused > whole.size());
}

TEST_CASE("a damaged exit.json never makes a run that was claimed void") {
  Bench bench;
  const Run run = bench.start(bench.shell("exit 4"));
  bench.wait(run);
  const std::string whole = slurp(run.directory + "/exit.json");
  bench.restart();
  each_damage(whole, [&](const Damage& damage) {
    test::write(run.directory + "/exit.json", damage.text);
    const Found found = bench.agents->recover(run);
    CHECK_FALSE(found.adopted);
    CHECK(found.end.run == run.id);
    CHECK_FALSE(found.end.outcome == Outcome::voided);
  });
}

TEST_CASE("an exit file that cannot be read for the moment is read again") {
  Bench bench;
  const Run run = bench.start(bench.shell("exit 4"));
  bench.wait(run);
  bench.restart();
  // No descriptors are left for it.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<Fd> all;
  const rlimit few{64, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  while (all.empty() || all.back())
    all.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const bool adopted = bench.agents->recover(run).adopted;
  all.clear();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(adopted);
  CHECK(bench.wait(run).reason == "exit_4");
}

TEST_CASE("a launch cut or damaged anywhere starts nothing and ends no shim by a signal") {
  const TempFolder folder;
  const std::string run = "0123456789abcdef0123456789abcdef";
  const RunFolder runs{.path = folder / "runs", .group = std::nullopt};
  Launch launch;
  launch.argv = {"/bin/sh", "-c", "touch " + (folder / "ran")};
  launch.cwd = folder.path();
  launch.env = {{"PATH", "/usr/bin:/bin"}};
  const auto whole = launch_text(launch, run, runs.path + "/" + run, "");
  REQUIRE(whole);
  const int left = static_cast<int>(shim::ShimExit::not_started);
  const int refused = static_cast<int>(shim::ShimExit::bad_call);
  const auto status_with = [&](const std::string& text) {
    REQUIRE(remove_run_directory(runs.path + "/" + run));
    const auto spare = make_spare_directory(runs, run);
    REQUIRE(spare);
    REQUIRE(move_into_place(runs, run, *spare));
    return status_of_shim(runs.path + "/" + run, shim::kModeRun, run, nullptr, text);
  };
  CHECK(status_with(*whole) == left);
  for (std::size_t at = 0; at < whole->size(); ++at) {
    CAPTURE(at);
    CHECK(status_with(whole->substr(0, at)) == refused);
    std::string text = *whole;
    text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ 0x01U);
    const int status = status_with(text);
    CHECK((status == left || status == refused));
    CHECK_FALSE(std::filesystem::exists(runs.path + "/" + run + "/claim"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
}

TEST_CASE("an agent file cut or damaged anywhere sends no signal to a stranger") {
  Bench bench;
  const test::Stranger stranger;
  const Run run = bench.start(bench.shell("true"));
  bench.wait(run);
  // Of this boot and of the stranger's session; only the start time tells that it is another.
  const std::string whole = "pid " + std::to_string(stranger.pid()) + "\nstart_ticks 1\nboot_id " +
                            run.boot_id + "\nsession " + std::to_string(stranger.pid()) + "\n";
  each_damage(whole, [&](const Damage& damage) {
    test::write(run.directory + "/agent", damage.text);
    CHECK(status_of_shim(run.directory, shim::kModeSweep, run.id, "0") == 0);
    CHECK(parse_exit(slurp(run.directory + "/exit.json"), "exit.json"));
  });
  CHECK(stranger.unhurt());
}

TEST_CASE("a request cut or damaged anywhere is refused with a word, or is a request") {
  const TempFolder state;
  auto requests = real_requests(state.path());
  REQUIRE(requests);
  const std::string whole =
      R"({"id": "r", "verb": "pause", "dialect": "rules", "flow": "t/a", "arguments": {}})";
  each_damage(whole, [&](const Damage& damage) {
    test::write(state / "requests/r.json", damage.text);
    std::vector<std::string> damaged;
    const auto pending = (*requests)->pending(damaged);
    CHECK(pending.size() + damaged.size() == 1);
    CHECK((damaged.size() == 1 || !damage.cut));
    CHECK((pending.empty() || pending[0].id == "r"));
    // What was refused does not come again.
    CHECK(std::filesystem::exists(state / "requests/r.json") == damaged.empty());
  });
}

TEST_CASE("a lock file cut or damaged anywhere still locks") {
  const TempFolder folder;
  const std::string root = folder / "root";
  const std::string state = folder / "state";
  std::filesystem::create_directories(root);
  std::filesystem::create_directories(state);
  std::string whole;
  {
    REQUIRE(lock_root(root, state));
    whole = slurp(state + "/lock");
    CHECK(lock_holder(state).pid == getpid());
  }
  each_damage(whole, [&](const Damage& damage) {
    test::write(state + "/lock", damage.text);
    (void)lock_holder(state);
    CHECK_FALSE(daemon_lives(state));
    const auto lock = lock_root(root, state);
    CHECK(lock);
    CHECK(lock_holder(state).pid == getpid());
  });
}

}  // namespace baton
