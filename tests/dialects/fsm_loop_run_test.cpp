// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/memo.h"

namespace baton::fsm_loop {

namespace {

TEST_CASE("a signal stands at the beginning of a line, and the last one counts") {
  using Kind = Signal::Kind;
  struct Row {
    std::string output;
    Signal expected;
    Signal anywhere;
  };
  for (const Row& row : {
           Row{"", {}, {}},
           Row{"FATAL_ERROR: x", {Kind::error, "x"}, {Kind::error, "x"}},
           Row{" \t FATAL_ERROR:  x y \r\n", {Kind::error, "x y"}, {Kind::error, "x y"}},
           Row{"say FATAL_ERROR: x\n", {}, {Kind::error, "x"}},
           Row{"FATAL_ERROR:\n\n x\ny", {Kind::error, "x"}, {Kind::error, "x"}},
           Row{"FATAL_ERROR:x\n", {Kind::error, "x"}, {Kind::error, "x"}},
           Row{"FATAL_ERROR: \n", {}, {}},
           Row{"fatal_error: x\n", {}, {}},
           Row{"LOOP_STOP:\n", {Kind::stop, ""}, {Kind::stop, ""}},
           Row{"LOOP_STOP: enough", {Kind::stop, "enough"}, {Kind::stop, "enough"}},
           Row{"CONTEXT_HANDOFF: a\nLOOP_STOP: b\nc\n", {Kind::stop, "b"}, {Kind::stop, "b"}},
           Row{"LOOP_STOP: b\nCONTEXT_HANDOFF: a\n", {Kind::handoff, "a"}, {Kind::handoff, "a"}},
       }) {
    CAPTURE(row.output);
    CHECK(signal_in(row.output, false) == row.expected);
    CHECK(signal_in(row.output, true) == row.anywhere);
  }
}

TEST_CASE("why an action failed is read from what it printed, only when it failed") {
  struct Row {
    int exit_code;
    std::string output;
    Failure expected;
  };
  for (const Row& row : {
           Row{0, "429 Too Many Requests", Failure::ordinary},
           Row{1, "429 Too Many Requests", Failure::rate_limit},
           Row{1, "You have hit your USAGE LIMIT", Failure::rate_limit},
           Row{1, "503 Service Unavailable", Failure::server},
           Row{1, "401 Unauthorized", Failure::refused},
           Row{1, "4 errors in 429 lines", Failure::ordinary},
           Row{1, "API Error: 429 {\"type\":\"error\"}", Failure::rate_limit},
           Row{1, "{\"status\":429}", Failure::rate_limit},
           Row{1, "HTTP/1.1 429\r\n", Failure::rate_limit},
           Row{1, "status code 403", Failure::refused},
           Row{1, "Error: 401", Failure::refused},
           Row{1, "first\n401: who are you?", Failure::refused},
           Row{1, "main.py:403: error", Failure::ordinary},
           Row{1, "403 tests passed, 1 failed", Failure::ordinary},
           Row{1, "error: line 401 is too long", Failure::ordinary},
           Row{1, "error 4290", Failure::ordinary},
           Row{143, "", Failure::ordinary},
       }) {
    CAPTURE(row.output);
    ActionResult action;
    action.exit_code = row.exit_code;
    action.error_output = row.output;
    CHECK(failure_of(action) == row.expected);
    CHECK(failure_of(action, true) == row.expected);
  }
}

TEST_CASE("an agent that writes about an error of a provider has not met it") {
  for (const char* const output :
       {"I have refactored the rate limit middleware; two tests are red",
        "test_quota: FAILED, expected `quota exceeded`", "- handles too many requests now",
        "The state file says: usage limit"}) {
    CAPTURE(output);
    ActionResult action;
    action.exit_code = 1;
    action.output = output;
    CHECK(failure_of(action, true) == Failure::ordinary);
    CHECK(failure_of(action) != Failure::ordinary);
  }
}

TEST_CASE("an action that SIGTERM ended after it had said something was cut off") {
  for (const int code : {143, -15}) {
    ActionResult action;
    action.exit_code = code;
    CHECK(failure_of(action) == Failure::ordinary);
    action.output = "the result";
    CHECK(failure_of(action) == Failure::cut_off);
    action.error_output = "rate limit";
    CHECK(failure_of(action) == Failure::rate_limit);
  }
}

TEST_CASE("short waits double, then the ladder is climbed until patience ends") {
  RateLimit limit;
  limit.max_retries = 2;
  limit.base = Millis(1000);
  limit.ladder = {Millis(10'000), Millis(20'000)};
  limit.max_wait = Millis(45'000);
  Waited waited;
  const auto first = next_wait(limit, waited, "salt");
  REQUIRE(first);
  CHECK(first->time >= Millis(1000));
  CHECK(first->time < Millis(2000));
  CHECK_FALSE(first->long_tier);
  waited.short_retries = 1;
  CHECK(next_wait(limit, waited, "salt")->time == first->time + Millis(1000));
  waited.short_retries = 2;
  CHECK(next_wait(limit, waited, "salt")->time == Millis(10'000));
  CHECK(next_wait(limit, waited, "salt")->long_tier);
  waited.long_retries = 7;
  CHECK(next_wait(limit, waited, "salt")->time == Millis(20'000));
  waited.total_seconds = 45;
  CHECK_FALSE(next_wait(limit, waited, "salt"));
}

TEST_CASE("what a record and a memo say is read back") {
  Record record;
  record.loop_name = "x";
  record.current_state = "a";
  record.iteration = 7;
  record.captured.set("c", Json::object({{"output", "o"}}));
  record.prev_result = Json::object({{"output", "p"}});
  record.started_at = "2026-01-22T10:00:00.000000Z";
  record.retries = {{"a", 2}};
  record.edges = {{"a->b", 3}};
  record.messages = {"one", "two"};
  record.phase = Phase::action_done;
  record.max_steps = 9;
  record.start = "r1";
  const Json before = Json::object({{"mine", 1}});
  const Json state = json_of(record, &*before);
  CHECK(json::integer(*state, "mine") == 1);
  CHECK(json_of(record_of(*state), nullptr) == [&] {
    Json own = state;
    return own.erase("mine");
  }());
  Memo memo;
  memo.owned = true;
  memo.stage = "a#7/act";
  memo.dealt = {"q"};
  memo.stopped_ms = 8;
  Frame frame;
  frame.definition = Json::object({{"name", "x"}});
  frame.work.step = Step::judge;
  frame.work.result = ActionResult{3, "out", "err", 12, "wall", ""};
  frame.work.until_ms = 5;
  memo.frames = {frame, frame};
  const Json kept = json_of(memo);
  CHECK(json_of(memo_of(kept, Record{})) == kept);
}

TEST_CASE("of messages the newest are kept, and of one that is too long its end") {
  Record record;
  add_message(record, "first");
  add_message(record, std::string(kMostMessages - 5, 'x'));
  CHECK(record.messages.size() == 2);
  add_message(record, "last");
  CHECK(record.messages.size() == 2);
  CHECK(record.messages.back() == "last");
  add_message(record, "\xC3\xA4" + std::string(kMostMessages - 1, 'y'));
  REQUIRE(record.messages.size() == 1);
  CHECK(record.messages.front() == std::string(kMostMessages - 1, 'y'));
}

TEST_CASE("a file of another program has no phase: its state is entered again") {
  const Json state = Json::object({{"loop_name", "x"}, {"status", "running"}});
  CHECK(record_of(*state).phase == Phase::entered);
}

TEST_CASE("a scope is an absolute path without detours") {
  struct Row {
    std::string path;
    std::string expected;
  };
  for (const Row& row : {Row{"", "/r"}, Row{".", "/r"}, Row{"./src/", "/r/src"},
                         Row{"a/../b", "/r/b"}, Row{"/etc//x", "/etc/x"}, Row{"../../..", "/"}}) {
    CAPTURE(row.path);
    CHECK(absolute_scope("/r", row.path) == row.expected);
  }
}

}  // namespace

}  // namespace baton::fsm_loop
