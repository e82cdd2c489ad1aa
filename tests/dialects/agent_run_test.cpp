// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/agent_text.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/record.h"
#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

namespace {

Json state(const StepRecord& step) {
  return Json::object({{"status", "RUNNING"},
                       {"updated_at", "then"},
                       {"steps", Json::object({{"a", json_of(step)}})}});
}

TEST_CASE("a report is what stands between the last pair of marker lines") {
  struct Row {
    std::string output;
    std::optional<std::string> block;
  };
  for (const Row& row : {
           Row{"", std::nullopt},
           Row{"<<<RUN_REPORT_JSON\n{}\nRUN_REPORT_JSON>>>\n", "{}"},
           Row{"a\n<<<RUN_REPORT_JSON\r\n{\n}\nRUN_REPORT_JSON>>>\r\nb", "{\n}"},
           Row{"<<<RUN_REPORT_JSON\n1\nRUN_REPORT_JSON>>>\n<<<RUN_REPORT_JSON\n2\nRUN_REPORT_JSON>>"
               ">",
               "2"},
           Row{"<<<RUN_REPORT_JSON\n{}", std::nullopt},
           Row{"RUN_REPORT_JSON>>>\n<<<RUN_REPORT_JSON", std::nullopt},
           Row{"the line <<<RUN_REPORT_JSON\n{}\nRUN_REPORT_JSON>>>", std::nullopt},
           Row{"<<<RUN_REPORT_JSON\nRUN_REPORT_JSON>>>", ""},
       }) {
    CAPTURE(row.output);
    CHECK(report_in_output(row.output) == row.block);
  }
}

TEST_CASE("a report is found in the streams of events that agents print") {
  const std::string block = R"(done.\n<<<RUN_REPORT_JSON\n{\"a\": \"b\\n\"}\nRUN_REPORT_JSON>>>\n)";
  const std::string claude =
      R"({"type":"system","subtype":"init","tools":[]})"
      "\n"
      R"({"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":")" +
      block +
      R"("},{"type":"tool_use","name":"x","input":{}}]}})"
      "\n";
  struct Row {
    const char* what;
    std::string output;
    bool found;
  };
  for (
      const Row& row : {
          Row{"claude, stream-json, said on the way", claude, true},
          Row{"claude, stream-json, as its result",
              R"({"type":"result","subtype":"success","is_error":false,"result":")" + block +
                  R"("})"
                  "\n",
              true},
          Row{"claude, a text before and after",
              "warning: x\n" + claude +
                  R"({"type":"result","result":"bye"})"
                  "\nbye\n",
              true},
          Row{"claude, json, verbose: one list",
              R"([{"type":"system"},{"type":"result","result":")" + block + R"("}])", true},
          Row{"codex, --json",
              R"({"type":"item.completed","item":{"id":"1","type":"agent_message","text":")" +
                  block +
                  R"("}})"
                  "\n"
                  R"({"type":"turn.completed","usage":{"input_tokens":1}})",
              true},
          Row{"gemini, json over several lines",
              "{\n  \"response\": \"" + block + "\",\n  \"stats\": {}\n}\n", true},
          Row{"gemini, stream-json, in pieces",
              R"({"type":"message","role":"assistant","content":"<<<RUN_REPO","delta":true})"
              "\n"
              R"({"type":"message","role":"assistant","content":"RT_JSON\n{\"a\": \"b\\n\"}\nRUN_","delta":true})"
              "\n"
              R"({"type":"message","role":"assistant","content":"REPORT_JSON>>>","delta":true})"
              "\n"
              R"({"type":"result","status":"success"})",
              true},
          Row{"opencode, json",
              R"({"type":"text","part":{"type":"text","text":")" + block + R"("}})", true},
          Row{"what it was told",
              R"({"type":"user","message":{"content":[{"type":"text","text":")" + block +
                  R"("}]}})",
              false},
          Row{"what a tool has read",
              R"({"type":"assistant","message":{"content":[{"type":"tool_result","content":")" +
                  block + R"("}]}})",
              false},
          Row{"a line that is cut off at its beginning",
              R"(rest of it","result":")" + block +
                  R"("})"
                  "\n",
              false},
          Row{"a member that nobody says", R"({"type":"result","note":")" + block + R"("})", false},
      }) {
    CAPTURE(row.what);
    CHECK(report_in_output(row.output) ==
          (row.found ? std::optional<std::string>(R"({"a": "b\n"})") : std::nullopt));
  }
}

TEST_CASE("what an agent says is its texts where it prints events, and its lines elsewhere") {
  CHECK(agent_text("one\ntwo") == "one\ntwo");
  CHECK(agent_text("{\"level\": 3}\n[1]\n{torn") == "{\"level\": 3}\n[1]\n{torn");
  CHECK(agent_text(R"({"type":"result","result":"no"})") == "no");
  CHECK(agent_text(R"({"type":"assistant","message":{"content":[{"type":"text","text":"42"}]}})"
                   "\n"
                   R"({"type":"result","result":"42"})") == "42");
  CHECK(agent_text(R"({"role":"user","content":"asked"})"
                   "\n"
                   R"({"role":"tool","content":"read"})"
                   "\n"
                   R"({"role":"assistant","content":"said"})") == "said");
  CHECK(agent_text(R"({"type":"user.message","data":{"content":"asked"}})"
                   "\n"
                   R"({"type":"assistant.message","data":{"content":"said"}})") == "said");
  CHECK(agent_text("two\ntwo") == "two\ntwo");
  CHECK(agent_text("a\n"
                   R"({"type":"turn.completed"})"
                   "\nb") == "a\nb");
}

TEST_CASE("a run state that says everything already is not written") {
  StepRecord step;
  step.attempts = 1;
  const Json before = state(step);
  CHECK(edits(*before, run_record(*before), "now").empty());
  RunRecord changed = run_record(*before);
  changed.steps["a"].status = Status::completed;
  const auto all = edits(*before, changed, "now");
  REQUIRE(all.size() == 2);
  CHECK(all[0] == json::Edit{"/steps/a/status", "\"COMPLETED\""});
  CHECK(all[1] == json::Edit{"/updated_at", "\"now\""});
}

TEST_CASE("a step has the members of the seed, and others only where they say something") {
  CHECK(
      json_of(StepRecord{}).dump() ==
      R"({"status":"PENDING","attempts":0,"iteration_count":0,"report_path":null,"started_at":null,)"
      R"("ended_at":null,"last_error":null,"artifacts":[],"metrics":{},"logs":[],)"
      R"("manual_input_path":null,"blocked_by_loop":null,"executions":0})");
}

TEST_CASE("members that baton does not know are anybody's") {
  const Json before = state(StepRecord{});
  Json notified = before;
  notified.set("mine", 1);
  CHECK(same_record(*before, *notified));
  StepRecord step;
  step.status = Status::skipped;
  CHECK_FALSE(same_record(*before, *state(step)));
  Json other = before;
  other.set("run_id", "x");
  CHECK_FALSE(same_record(*before, *other));
}

TEST_CASE("a path has one spelling for its place") {
  struct Row {
    std::string path;
    std::string tidy;
  };
  for (const Row& row :
       {Row{"/r/./a//b.md", "/r/a/b.md"}, Row{"/r/x/../a", "/r/a"}, Row{"/../../etc", "/etc"},
        Row{"/", "/"}, Row{"a/../../b", "../b"}, Row{"..a/.b", "..a/.b"}}) {
    CAPTURE(row.path);
    CHECK(normalized(row.path) == row.tidy);
  }
}

TEST_CASE("times have six digits behind the second") {
  CHECK(stamp(Time(Millis(1'769'076'000'012))) == "2026-01-22T10:00:00.012000Z");
}

TEST_CASE("the memory comes back from the journal as it was") {
  Memo memo;
  memo.driven = true;
  memo.steps["a"] =
      StepMemo{"run", "i0a1x3", {"i0a1", "i0a2"}, 7, "why", 9, "because", "other", 11, 12, true};
  memo.answered = {"one", "two"};
  memo.cost_day = "2026-01-22";
  memo.cost_usd = 0.5;
  CHECK(memo_of(json_of(memo)) == memo);
  CHECK(memo_of(Json()) == Memo{});
}

TEST_CASE("the starts of a step have labels of their own") {
  StepRecord record;
  record.attempts = 2;
  record.executions = 3;
  StepMemo memo;
  CHECK(next_label(record, memo) == "i0a2");
  CHECK(next_log(record, memo) == "i0__attempt2");
  memo.labels = {"i0a2"};
  CHECK(next_label(record, memo) == "i0a2x3");
  CHECK(next_log(record, memo) == "i0__attempt2__x3");
}

TEST_CASE("a decision is explicit and does not contradict itself") {
  struct Row {
    std::string input;
    std::optional<Verdict> verdict;
  };
  for (const Row& row : {
           Row{R"({"approved": true, "comments": "LGTM"})", Verdict{true, "LGTM"}},
           Row{R"({"status": "passed", "notes": "n"})", Verdict{true, "n"}},
           Row{R"({"decision": "Reject"})", Verdict{false, ""}},
           Row{R"({"approved": false, "status": "FAILED"})", Verdict{false, ""}},
           Row{R"({"approved": false, "status": "PASSED"})", std::nullopt},
           Row{R"({"status": "maybe"})", std::nullopt},
           Row{R"({"comments": "LGTM"})", std::nullopt},
           Row{R"({})", std::nullopt},
       }) {
    CAPTURE(row.input);
    const auto parsed = parse_json(row.input);
    REQUIRE(parsed);
    CHECK(verdict_of(**parsed) == row.verdict);
  }
}

}  // namespace

}  // namespace baton::agent_run
