// SPDX-License-Identifier: Apache-2.0

// What of a lost master state comes back from the progress files, member by member.

#include <string>

#include <doctest/doctest.h>

#include "core/catalog.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/progress.h"
#include "dialects/dialects.h"

namespace baton {
namespace {

constexpr const char* kDevelop = R"(# Development Progress

**Loop ID**: loop-v2-a
**Task**: Add login and logout
**Started**: 2026-01-22T10:00:00+08:00

---

## Task List

1. [ ] Create the form
2. [x] Check the password
3. [ ] Log out

## Progress Timeline

### Iteration 1 - Create the form (2026-01-22T10:10:00+08:00)

#### Task Details
- **ID**: task-form
- **Tool**: gemini
- **Mode**: write

#### Implementation Summary
Made it (in one go).

#### Files Changed
- `src/form.c`
- `src/form.h`

#### Status: COMPLETED

### Iteration 2 - Check the password (2026-01-22T10:20:00+08:00)

#### Task Details
- **ID**: task-check
- **Tool**: codex
- **Mode**: analysis

#### Files Changed
No files changed

#### Status: COMPLETED
)";
constexpr const char* kDebug = R"(# Understanding Document

**Loop ID**: loop-v2-a
**Bug Description**: login fails
**Started**: 2026-01-22T10:30:00+08:00

### Iteration 1 - Initial Exploration (2026-01-22T10:30:00+08:00)

**H1**: the salt is lost
- Testable condition: the salt is empty
- Logging point: `auth.c:check:12`
- Likelihood: 1

**H2**: the clock is wrong
- Likelihood: 2

## Current Consolidated Understanding

### Iteration 2 - Evidence Analysis (2026-01-22T10:40:00+08:00)

**H1**: CONFIRMED
- Evidence: [{"hid": "H1", "data": 1}]
- Reasoning: it is empty

**H2**: REJECTED

#### Root Cause Identified
**H1**: the salt is lost
)";
constexpr const char* kValidate = R"(# Validation Report

**Loop ID**: loop-v2-a
**Validated**: 2026-01-22T10:50:00+08:00

## Iteration 3 - Validation Run

| Metric | Value |
|---|---|
| Total Tests | 4 |
| Passed | 3 |
| Failed | 1 |
| Skipped | 0 |
| Duration | 120ms |
| **Pass Rate** | **75%** |

**Overall Coverage**: 61.5%

#### test_logout
- Suite: auth
- Error: not there

**Result**: ❌ FAIL
)";
const std::string loop_place = ".workflow/.loop/loop-v2-a";

struct Folder {
  FlowState docs;
  Folder& put(const std::string& path, const std::string& text) {
    static const Catalog catalog = Catalog::of({{&ccw_loop_dialect(), Json::object()}});
    const auto match = catalog.match(loop_place + path);
    REQUIRE(match);
    auto document = load_document(text, match->kind->format);
    REQUIRE(document);
    docs[loop_place + path] = Accepted{*document, match->kind->kind, match->part, 1, {}, true, {}};
    return *this;
  }
  std::vector<Create> rebuild() const {
    const FlowId flow{"ccw_loop", "loop-v2-a"};
    const std::map<Subject, StageState> stages;
    const Json nothing;
    const Json options = Json::object();
    const Environment env;
    const Time wall = *parse_time("2026-02-01T00:00:00Z");
    return ccw_loop_dialect().rebuild(
        View{flow, docs, stages, {}, nothing, {}, options, env, wall, wall});
  }
};

std::string at(const Json& json, const std::string& pointer) {
  const Value* const value = json::at(*json, pointer);
  return value == nullptr ? "absent" : json::dump(*value);
}

// Member by member, so that a failure names the one.

void compare_part(const Value& got, const Value& expected) {
  if (!expected.IsObject()) {
    CHECK(json::dump(got) == json::dump(expected));
    return;
  }
  CHECK(got.MemberCount() == expected.MemberCount());
  for (const auto& member : expected.GetObject()) {
    CAPTURE(member.name.GetString());
    CHECK(at(Json(got), "/" + std::string(member.name.GetString())) == json::dump(member.value));
  }
}

void compare(const Json& got, const std::string& expected) {
  const auto parsed = parse_json(expected);
  REQUIRE(parsed);
  for (const auto& part : (*parsed)->GetObject()) {
    CAPTURE(part.name.GetString());
    const Value* const value = json::child(*got, part.name.GetString());
    REQUIRE(value != nullptr);
    compare_part(*value, part.value);
  }
  CHECK(got->MemberCount() == (*parsed)->MemberCount());
}

}  // namespace

TEST_SUITE("ccw_loop") {
  TEST_CASE("the markdown of the progress files gives back what it holds") {
    Folder folder;
    folder.put(".progress/develop.md", kDevelop)
        .put(".progress/debug.md", kDebug)
        .put(".progress/validate.md", kValidate);
    compare(ccw_loop::rebuilt_skill(folder.docs, false), R"({
      "current_action": null, "last_action": "VALIDATE",
      "completed_actions": ["INIT", "DEVELOP", "DEVELOP", "DEBUG", "VALIDATE"], "mode": "auto",
      "develop": {"total": 3, "completed": 2, "current_task": null, "tasks": [
        {"id": "task-form", "description": "Create the form", "status": "completed",
         "files_changed": ["src/form.c", "src/form.h"], "created_at": "2026-01-22T10:00:00+08:00",
         "completed_at": "2026-01-22T10:10:00+08:00", "tool": "gemini", "mode": "write"},
        {"id": "task-check", "description": "Check the password", "status": "completed",
         "files_changed": [], "created_at": "2026-01-22T10:00:00+08:00",
         "completed_at": "2026-01-22T10:20:00+08:00", "tool": "codex", "mode": "analysis"},
        {"id": "task-003", "description": "Log out", "status": "pending", "files_changed": [],
         "created_at": "2026-01-22T10:00:00+08:00", "completed_at": null}],
        "last_progress_at": "2026-01-22T10:20:00+08:00"},
      "debug": {"active_bug": "login fails", "hypotheses_count": 2, "hypotheses": [
        {"id": "H1", "description": "the salt is lost", "status": "confirmed",
         "evidence": [{"hid": "H1", "data": 1}], "verdict_reason": "it is empty",
         "testable_condition": "the salt is empty", "logging_point": "auth.c:check:12",
         "likelihood": 1},
        {"id": "H2", "description": "the clock is wrong", "status": "rejected",
         "evidence": null, "verdict_reason": null, "likelihood": 2}],
        "confirmed_hypothesis": "H1", "iteration": 2,
        "last_analysis_at": "2026-01-22T10:40:00+08:00"},
      "validate": {"pass_rate": 75.0, "coverage": 61.5, "test_results": [
        {"timestamp": "2026-01-22T10:50:00+08:00", "summary": {"total": 4, "passed": 3, "failed": 1,
         "skipped": 0, "pass_rate": 75.0, "duration_ms": 120}}], "passed": false,
        "failed_tests": ["test_logout"], "last_run_at": "2026-01-22T10:50:00+08:00"},
      "errors": []})");
    const auto states = folder.rebuild();
    REQUIRE(states.size() == 1);
    CHECK(states[0].path == loop_place + ".json");
    const auto state = parse_json(states[0].text);
    REQUIRE(state);
    CHECK(at(*state, "/loop_id") == "\"loop-v2-a\"");
    CHECK(at(*state, "/title") == "\"Add login and logout\"");
    CHECK(at(*state, "/description") == "\"Add login and logout\"");
    CHECK(at(*state, "/max_iterations") == "10");
    CHECK(at(*state, "/status") == "\"paused\"");
    CHECK(at(*state, "/current_iteration") == "2");
    CHECK(at(*state, "/created_at") == "\"2026-01-22T10:00:00+08:00\"");
    CHECK(at(*state, "/failure_reason") == "absent");
  }

  TEST_CASE("changes.log and the JSON files know more than the markdown") {
    Folder folder;
    folder.put(".progress/develop.md", kDevelop)
        .put(".progress/debug.md", kDebug)
        .put(".progress/validate.md", kValidate)
        .put(
            ".progress/changes.log",
            R"({"timestamp": "2026-01-22T10:11:11Z", "task_id": "task-form", "description": "Create the form", "files_changed": ["a.c"], "result": "success"}
{"timestamp": "2026-01-22T10:12:00Z", "task_id": "task-out", "description": "Log out", "files_changed": ["b.c"], "result": "success"}
{"timestamp": "2026-01-22T10:13:00Z", "task_id": "task-check", "result": "failed"}
)")
        .put(".progress/hypotheses.json",
             R"({"hypotheses": [{"id": "H1", "description": "salt", "status": "confirmed",
                 "evidence_criteria": {"confirm": "c", "reject": "r"}, "evidence": {"a": 1}}],
                 "iteration": 4})")
        .put(".progress/test-results.json",
             R"({"iteration": 2, "timestamp": "2026-01-22T10:55:00+08:00", "summary": {"total": 2,
                 "passed": 2, "failed": 0, "skipped": 0, "pass_rate": "100.0", "duration_ms": 5},
                 "tests": [], "failures": [], "coverage": null})");
    const Json skill = ccw_loop::rebuilt_skill(folder.docs, true);
    CHECK(at(skill, "/mode") == "\"interactive\"");
    CHECK(at(skill, "/develop/completed") == "3");
    CHECK(at(skill, "/develop/tasks/0/files_changed") == R"(["a.c"])");
    CHECK(at(skill, "/develop/tasks/0/completed_at") == "\"2026-01-22T10:11:11Z\"");
    CHECK(at(skill, "/develop/tasks/2/id") == "\"task-out\"");
    CHECK(at(skill, "/develop/tasks/2/status") == "\"completed\"");
    CHECK(at(skill, "/develop/last_progress_at") == "\"2026-01-22T10:12:00Z\"");
    CHECK(at(skill, "/debug/hypotheses_count") == "1");
    CHECK(at(skill, "/debug/iteration") == "4");
    CHECK(at(skill, "/debug/confirmed_hypothesis") == "\"H1\"");
    CHECK(at(skill, "/debug/hypotheses/0/evidence_criteria/confirm") == "\"c\"");
    CHECK(at(skill, "/validate/passed") == "true");
    CHECK(at(skill, "/validate/pass_rate") == "100.0");
    CHECK(at(skill, "/validate/coverage") == "null");
    CHECK(at(skill, "/validate/failed_tests") == "[]");
    CHECK(at(skill, "/validate/test_results/0/iteration") == "2");
  }

  TEST_CASE("what was done is told in the order of its times") {
    Folder folder;
    folder.put(".progress/develop.md", kDevelop)
        .put(".progress/validate.md",
             "# Validation Report\n\n**Validated**: 2026-01-22T10:15:00+08:00\n\n**Result**: "
             "FAIL\n");
    const Json skill = ccw_loop::rebuilt_skill(folder.docs, false);
    CHECK(at(skill, "/completed_actions") == R"(["INIT","DEVELOP","VALIDATE","DEVELOP"])");
    CHECK(at(skill, "/last_action") == "\"DEVELOP\"");
    // changes.log has the last word about times.
    folder.put(".progress/changes.log",
               R"({"timestamp": "2026-01-22T10:14:00+08:00", "task_id": "task-check"})"
               "\n");
    const Json logged = ccw_loop::rebuilt_skill(folder.docs, false);
    CHECK(at(logged, "/completed_actions") == R"(["INIT","DEVELOP","DEVELOP","VALIDATE"])");
    CHECK(at(logged, "/last_action") == "\"VALIDATE\"");
  }

  TEST_CASE("changes.log may have a record for each file") {
    Folder folder;
    folder.put(".progress/develop.md", kDevelop)
        .put(
            ".progress/changes.log",
            R"({"timestamp": "2026-01-22T10:11:00Z", "task_id": "task-form", "files_changed": ["a.c"]}
{"timestamp": "2026-01-22T10:12:00Z", "task_id": "task-form", "files_changed": ["b.c", "a.c"]}
{"timestamp": "2026-01-22T10:13:00Z", "task_id": "task-form", "files_changed": []}
)");
    const Json skill = ccw_loop::rebuilt_skill(folder.docs, false);
    CHECK(at(skill, "/develop/tasks/0/files_changed") == R"(["a.c","b.c"])");
    CHECK(at(skill, "/develop/tasks/0/completed_at") == "\"2026-01-22T10:13:00Z\"");
    CHECK(at(skill, "/develop/total") == "3");
  }

  TEST_CASE("without develop.md the prepared list and changes.log tell what was done") {
    Folder folder;
    folder
        .put(
            ".progress/changes.log",
            R"({"timestamp": "2026-01-22T10:11:00Z", "task_id": "task-2", "description": "two", "files_changed": ["b.c"], "result": "success"}
{"timestamp": "2026-01-22T10:12:00Z", "task_id": "task-9", "description": "nine", "files_changed": [], "result": "success"}
)")
        .put(
            ".tasks.jsonl",
            R"({"task_id": "task-1", "description": "one", "tool": "codex", "mode": "write", "order": 0}
{"task_id": "task-2", "description": "two", "tool": "bash", "mode": "review", "order": 1}
)");
    const auto states = folder.rebuild();
    REQUIRE(states.size() == 1);
    const Json state = *parse_json(states[0].text);
    CHECK(at(state, "/current_iteration") == "2");
    CHECK(at(state, "/skill_state/completed_actions") == R"(["INIT","DEVELOP","DEVELOP"])");
    CHECK(at(state, "/skill_state/develop/total") == "3");
    CHECK(at(state, "/skill_state/develop/completed") == "2");
    CHECK(at(state, "/skill_state/develop/tasks/0/status") == "\"pending\"");
    CHECK(at(state, "/skill_state/develop/tasks/1/status") == "\"completed\"");
    CHECK(at(state, "/skill_state/develop/tasks/1/tool") == "\"bash\"");
    CHECK(at(state, "/skill_state/develop/tasks/1/files_changed") == R"(["b.c"])");
    CHECK(at(state, "/skill_state/develop/tasks/2/id") == "\"task-9\"");
    CHECK(at(state, "/skill_state/develop/tasks/2/description") == "\"nine\"");
    CHECK(at(state, "/skill_state/develop/last_progress_at") == "\"2026-01-22T10:12:00Z\"");
  }

  TEST_CASE("the sources come in their order, and none of them runs") {
    const auto state = [](const std::string& title, const std::string& status) {
      return R"({"loop_id": "loop-v2-a", "title": ")" + title +
             R"(", "description": "", "max_iterations": 3, "status": ")" + status +
             R"(", "current_iteration": 1, "created_at": "2026-01-22T10:00:00Z",
                 "updated_at": "2026-01-22T10:00:00Z"})";
    };
    Folder folder;
    folder.put(".json", state("accepted", "running"))
        .put(".json.backup", state("backup", "completed"))
        .put(".progress/develop.md", kDevelop);
    const auto states = folder.rebuild();
    REQUIRE(states.size() == 3);
    CHECK(at(*parse_json(states[0].text), "/title") == "\"accepted\"");
    CHECK(at(*parse_json(states[0].text), "/status") == "\"paused\"");
    CHECK(at(*parse_json(states[1].text), "/title") == "\"backup\"");
    CHECK(at(*parse_json(states[1].text), "/status") == "\"completed\"");
    CHECK(states[2].why.find("progress files") != std::string::npos);
    Folder other;
    other.put(".json.backup", "{\"loop_id\": \"loop-v2-b\"}");
    CHECK(other.rebuild().empty());
    other.put(".json.backup", "{torn");
    CHECK(other.rebuild().empty());
  }

  TEST_CASE("a rate of nothing is no number") {
    const Json notes = ccw_loop::read_validate(
        "# Validation Report\n\n| Total Tests | 0 |\n| **Pass Rate** | **NaN%** |\n\n"
        "_No coverage data available_\n\n**Result**: PASS\n");
    CHECK(at(notes, "/pass_rate") == "null");
    CHECK(at(notes, "/coverage") == "null");
    CHECK(at(notes, "/passed") == "true");
  }

  TEST_CASE("progress files cut anywhere are read as far as they go") {
    for (const std::string whole : {kDevelop, kDebug, kValidate})
      for (std::size_t length = 0; length <= whole.size(); ++length) {
        const std::string text = whole.substr(0, length);
        CHECK(ccw_loop::read_develop(text).entries.size() <= 2);
        CHECK(json::child(*ccw_loop::read_debug(text), "hypotheses")->Size() <= 2);
        CHECK(json::child(*ccw_loop::read_validate(text), "failed_tests")->Size() <= 1);
      }
  }
}

}  // namespace baton
