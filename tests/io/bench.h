// SPDX-License-Identifier: Apache-2.0
#pragma once

// A folder of its own, a shim, and ends collected as they come. Waiting is polling with an upper
// bound: no test asserts a time.

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include "io/agents/agents.h"
#include "io/system/process.h"
#include "io/temp_folder.h"
#include "print.h"

namespace doctest {
template <>
struct StringMaker<baton::Outcome> {
  static String convert(baton::Outcome outcome) {
    constexpr const char* kWords[] = {"none",    "succeeded",   "failed",  "timed_out", "stalled",
                                      "stopped", "interrupted", "unknown", "voided"};
    return kWords[static_cast<int>(outcome)];
  }
};
}  // namespace doctest

namespace baton::test {

namespace fs = std::filesystem;

/// Processes that are not dead and carry this text in their environment.
inline std::vector<std::int64_t> processes_with(std::string_view variable) {
  std::vector<std::int64_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    const auto stat = process_stat(std::stoll(name));
    if (stat && stat->alive() && has_word(slurp(entry.path() / "environ"), variable))
      found.push_back(stat->pid);
  }
  return found;
}

/// 0: none, for as long as one may take to come.
inline pid_t youngest_child_of(pid_t parent) {
  const std::string of = std::to_string(parent);
  for (int turn = 0; turn < 3000; ++turn) {
    const std::string all = slurp("/proc/" + of + "/task/" + of + "/children");
    if (all.size() > 1)
      return std::stoi(all.substr(all.rfind(' ', all.size() - 2) + 1));
    usleep(10'000);
  }
  return 0;
}

/// A process that has nothing to do with any run and must not be hurt. Holds none of our
/// descriptors, so that nobody waits for it.
class Stranger {
 public:
  /// Only root can make one of another user.
  explicit Stranger(uid_t user = geteuid()) : pid_(fork()) {
    if (pid_ == 0) {
      if (user != geteuid() && setresuid(user, user, user) != 0)
        _exit(1);
      setsid();
      for (int fd = 0; fd < 64; ++fd)
        close(fd);
      while (true)
        pause();
    }
    for (int turn = 0; turn < 1000 && getsid(pid_) != pid_; ++turn)
      usleep(1000);
  }
  ~Stranger() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  Stranger(Stranger&&) = delete;
  Stranger& operator=(Stranger&&) = delete;
  pid_t pid() const { return pid_; }
  bool unhurt() const { return process_stat(pid_)->alive(); }

 private:
  pid_t pid_;
};

class Bench {
 public:
  Bench() { restart(); }

  /// As if the daemon had died and come back; agents go on.
  void restart() {
    agents.reset();
    context = std::make_unique<asio::io_context>();
    agents = process_agents(*context, options(),
                            [this](const RunEnded& ended) { ends.push_back(ended.end); });
  }

  ProcessAgentsOptions options() const {
    return {.runs = {.path = folder / "runs", .group = std::nullopt},
            .shim = BATON_SHIM,
            .cgroup = cgroup,
            .keep_spare = keep_spare};
  }

  Launch launch(std::vector<std::string> argv) const {
    Launch made;
    made.argv = std::move(argv);
    made.env = {{"PATH", "/usr/bin:/bin"}};
    made.cwd = folder.path();
    made.limits.kill_grace = Millis(10'000);
    return made;
  }
  Launch shell(const std::string& script) const { return launch({"/bin/sh", "-c", script}); }

  /// Prepares and releases; the run as the journal would hold it.
  Run start(const Launch& wanted) const {
    Run run = prepare(wanted);
    const auto released = agents->release(run.id);
    REQUIRE(released);
    return run;
  }
  Run prepare(const Launch& wanted) const {
    const auto prepared = agents->prepare(wanted);
    if (!prepared)
      FAIL(describe(prepared.error()));
    Run run;
    run.id = prepared->id;
    run.pid = prepared->pid;
    run.start_ticks = prepared->start_ticks;
    run.boot_id = prepared->boot_id;
    run.directory = prepared->directory;
    run.limits = wanted.limits;
    return run;
  }

  bool eventually(const std::function<bool()>& true_now) const {
    constexpr int kTurns = 3000;
    for (int turn = 0; turn < kTurns; ++turn) {
      if (true_now())
        return true;
      context->restart();
      // Without anything to wait for it returns at once.
      if (context->run_for(std::chrono::milliseconds(10)) == 0)
        usleep(5000);
    }
    return false;
  }

  std::optional<RunEnd> end_of(const RunId& run) const {
    for (const RunEnd& end : ends) {
      if (end.run == run)
        return end;
    }
    return std::nullopt;
  }
  RunEnd wait(const Run& run) const {
    REQUIRE(eventually([&] { return end_of(run.id).has_value(); }));
    return *end_of(run.id);
  }
  RunEnd outcome_of(const Launch& wanted) const { return wait(start(wanted)); }

  /// Waits until a file exists and is complete, as the agents below write it.
  bool wait_for(const std::string& name) const {
    return eventually([&] { return fs::exists(folder / name); });
  }
  std::string text(const std::string& name) const { return slurp(folder / name); }
  static std::string out(const Run& run) { return slurp(fs::path(run.directory) / "stdout.log"); }

  bool nothing_left(const Run& run) const {
    return eventually([&] { return processes_with("BATON_RUN_ID=" + run.id).empty(); });
  }

  TempFolder folder;
  std::string cgroup;
  bool keep_spare = false;
  std::unique_ptr<asio::io_context> context;
  std::vector<RunEnd> ends;
  std::unique_ptr<Agents> agents;
};

}  // namespace baton::test
