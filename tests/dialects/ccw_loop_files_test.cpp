// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "core/catalog.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/dialects.h"
#include "dialects/findings.h"

namespace baton {

namespace {

Catalog catalog_with(const Json& options) {
  return Catalog::of({{&ccw_loop_dialect(), options}});
}

std::string kind_of(const std::string& path) {
  const Catalog catalog = catalog_with(Json());
  const auto match = catalog.match(path);
  return match ? match->kind->kind + " of " + match->flow.name : "";
}

}  // namespace

TEST_CASE("a loop's files belong to its flow") {
  struct Row {
    std::string path;
    std::string kind;
  };
  for (const Row& row :
       {Row{".workflow/.loop/loop-v2-a.json", "state of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.tasks.jsonl", "tasks of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a/tasks.jsonl", "tasks of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.progress/changes.log", "changes of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.progress/debug.log", "debug of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.progress/hypotheses.json", "hypotheses of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.progress/test-results.json", "test_results of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a/.task/TASK-1.json", "task of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a/tasks.json", "tasks_alias of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.tasks.json", "tasks_alias of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.progress/tasks.json", "tasks_alias of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.progress/develop.md", "progress of loop-v2-a"},
        Row{".workflow/.loop/loop-v2-a.json.backup", "backup of loop-v2-a"}}) {
    CAPTURE(row.path);
    CHECK(kind_of(row.path) == row.kind);
  }
}

TEST_CASE("neighbours of other tools in the loops' folder are left alone") {
  for (const std::string path :
       {".workflow/.loop/loop-b-20260122-abc123.json", ".workflow/.loop/loop-task-1-2026.json",
        ".workflow/.loop/loop-v2-.json", ".workflow/.loop/prep-package.json",
        ".workflow/.loop/loop-v2-a.progress/coverage.json",
        ".workflow/.loop/loop-b-1.workers/develop.output.json", "loop-v2-a.json"}) {
    CAPTURE(path);
    CHECK(kind_of(path).empty());
  }
}

TEST_CASE("loops of other versions are known") {
  const Catalog catalog = catalog_with(Json());
  CHECK(catalog.known_other(".workflow/.loop/loop-b-20260122-a.json") ==
        "a loop of the variant with workers");
  CHECK(catalog.known_other(".workflow/.loop/loop-task-1-2026.json") ==
        "a loop of another version");
  CHECK(catalog.known_other(".workflow/.loop/loop-v3-a.json") == "a loop of another version");
  CHECK(catalog.known_other(".workflow/.loop/loop-v2--a.json").starts_with("named like a loop"));
  CHECK(catalog.known_other(".workflow/.loop/loop-v2-a.json").empty());
  CHECK(catalog.known_other(".workflow/.loop/prep-package.json").empty());
}

TEST_CASE("the folder of loops nobody serves is looked into, to tell about them") {
  const auto looks = [](const Json& options, const std::string& at) {
    const std::vector<PatternFolder> folders = catalog_with(options).folders();
    return std::any_of(folders.begin(), folders.end(),
                       [&](const PatternFolder& folder) { return folder.folder == at; });
  };
  CHECK(looks(Json(), ".workflow/.loop"));
  CHECK(looks(Json(), ".loop"));
  CHECK(looks(Json::object({{"path", "elsewhere"}}), ".workflow/.loop"));
}

TEST_CASE("the loops' folder can be elsewhere") {
  const Catalog catalog = catalog_with(Json::object({{"path", ".loop"}}));
  CHECK(catalog.match(".loop/loop-v2-a.json"));
  CHECK_FALSE(catalog.match(".workflow/.loop/loop-v2-a.json"));
}

TEST_CASE("only a name like a loop's says which loop it is") {
  CHECK(ccw_loop::loop_of_name("x/loop-v2-a.b.json") == "loop-v2-a.b");
  CHECK(ccw_loop::loop_of_name("loop-v2-a.json") == "loop-v2-a");
  CHECK_FALSE(ccw_loop::loop_of_name("state.json"));
  CHECK_FALSE(ccw_loop::loop_of_name("loop-v2-.json"));
  CHECK_FALSE(ccw_loop::loop_of_name("-"));
}

TEST_CASE("the option `tools` makes further agents known") {
  const auto document = load_document(
      R"({"loop_id": "loop-v2-a", "status": "running", "skill_state": {"develop": {"total": 1,
          "completed": 0, "tasks": [{"id": "t", "status": "pending", "tool": "claude"}]}}})",
      Format::json);
  REQUIRE(document);
  const Accepted accepted{*document, "state"};
  const auto check = ccw_loop_dialect().check;
  CHECK(check("x.json", accepted, Json(), {}).size() == 1);
  const Json options = Json::object({{"tools", Json::array({Json("claude")})}});
  CHECK(check("x.json", accepted, options, {}).empty());
}

}  // namespace baton
