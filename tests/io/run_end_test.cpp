// SPDX-License-Identifier: Apache-2.0
#include "io/agents/run_end.h"

#include <optional>
#include <string>
#include <vector>

#include "io/bench.h"

using baton::ExitRecord;
using baton::Outcome;
using baton::RunEnd;

TEST_CASE("cause, status and the wish to stop give outcome and reason") {
  struct Row {
    const char* cause;
    std::optional<int> exit_code;
    std::optional<int> signal;
    bool stop_wanted;
    Outcome outcome;
    const char* reason;
  };
  const std::vector<Row> rows = {
      {"exit", 0, {}, false, Outcome::succeeded, ""},
      {"exit", 0, {}, true, Outcome::succeeded, ""},
      {"exit", 1, {}, false, Outcome::failed, "exit_1"},
      {"exit", 126, {}, false, Outcome::failed, "exit_126"},
      {"exit", 127, {}, false, Outcome::failed, "exit_127"},
      {"exit", {}, 9, false, Outcome::failed, "signal_KILL"},
      {"exit", {}, 11, true, Outcome::failed, "signal_SEGV"},
      {"exit", {}, 40, false, Outcome::failed, "signal_40"},
      {"exec_failed", 127, {}, false, Outcome::failed, "exec_failed"},
      {"wall_limit", {}, 15, false, Outcome::timed_out, "timeout"},
      {"wall_limit", {}, 9, true, Outcome::timed_out, "timeout"},
      {"idle_limit", 0, {}, false, Outcome::stalled, "idle_timeout"},
      {"term", {}, 15, false, Outcome::interrupted, "terminated"},
      {"term", 0, {}, false, Outcome::interrupted, "terminated"},
      {"term", {}, 15, true, Outcome::stopped, ""},
      {"shim_killed", {}, {}, false, Outcome::unknown, "shim_killed"},
      {"shim_killed", {}, {}, true, Outcome::stopped, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.cause);
    CAPTURE(row.reason);
    ExitRecord exit;
    exit.run_id = "7f";
    exit.cause = row.cause;
    exit.exit_code = row.exit_code;
    exit.signal = row.signal;
    const RunEnd end = baton::run_end(exit, row.stop_wanted);
    CHECK(end.run == "7f");
    CHECK(end.outcome == row.outcome);
    CHECK(end.reason == row.reason);
    exit.survivors = 2;
    CHECK(baton::run_end(exit, row.stop_wanted).reason == "could_not_stop");
  }
}

TEST_CASE("an agent that the kernel killed for memory has its own reason, with the peak") {
  const auto end_of = [](const std::string& status, int kills) {
    const auto exit = baton::parse_exit(
        R"({"version": 1, "run_id": "7f", "cause": "exit", )" + status + R"(, "memory_kills": )" +
            std::to_string(kills) + R"(, "memory_peak_kib": 4194304})",
        "exit.json");
    REQUIRE(exit);
    return baton::run_end(*exit, false);
  };
  for (const char* const status : {R"("signal": 9)", R"("exit_code": 137)"}) {
    const RunEnd killed = end_of(status, 1);
    CHECK(killed.outcome == Outcome::failed);
    CHECK(killed.reason == "out_of_memory");
    CHECK(killed.error ==
          "the kernel killed it because memory ran out; it had used up to 4096 MiB");
    CHECK(end_of(status, 0).reason != "out_of_memory");
    CHECK(end_of(status, 0).error.empty());
  }
  CHECK(end_of(R"("exit_code": 0)", 1).outcome == Outcome::succeeded);
}

TEST_CASE("an exit file says what it has to, or it is damaged") {
  const std::string good =
      R"({"version": 1, "run_id": "7f", "cause": "exit", "exit_code": 3, "signal": null,
          "ended_ms": 1000, "user_ms": 1, "max_rss_kib": 2, "stdout_bytes": 3, "leftovers": 1})";
  const auto exit = baton::parse_exit(good, "exit.json");
  REQUIRE(exit);
  CHECK(exit->exit_code == 3);
  CHECK_FALSE(exit->signal);
  CHECK(exit->ended == baton::Time(baton::Millis(1000)));
  CHECK(baton::run_end(*exit, false).leftovers);
  for (const char* bad :
       {"", "{", "[]", "null", R"({"version": 2, "run_id": "7f", "cause": "exit", "exit_code": 0})",
        R"({"version": 1, "cause": "exit", "exit_code": 0})",
        R"({"version": 1, "run_id": "7f", "cause": "magic", "exit_code": 0})",
        R"({"version": 1, "run_id": "7f", "cause": "exit"})",
        R"({"version": 1, "run_id": "7f", "cause": "exit", "exit_code": -1})",
        R"({"version": 1, "run_id": "7f", "cause": "exit", "exit_code": "0"})"}) {
    CAPTURE(bad);
    CHECK_FALSE(baton::parse_exit(bad, "exit.json"));
  }
}
