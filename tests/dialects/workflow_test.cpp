// SPDX-License-Identifier: Apache-2.0
#include "dialects/agent_run/workflow.h"

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "dialects/agent_run/files.h"

namespace baton::agent_run {

TEST_CASE("ancestors are all steps that had to run before") {
  const auto json = parse_json(
      R"({"steps":[{"id":"a"},{"id":"b","needs":["a"]},{"id":"c","needs":"b"},{"id":"d"}]})");
  REQUIRE(json);
  const Workflow workflow(**json);
  CHECK(workflow.ancestors(*workflow.step("c")) == std::set<std::string>{"a", "b"});
  CHECK(workflow.ancestors(*workflow.step("d")).empty());
  CHECK(workflow.cycle().empty());
  CHECK(workflow.step("e") == nullptr);
}

TEST_CASE("a circle is told without the steps behind it") {
  const auto json = parse_json(
      R"({"steps":[{"id":"a","needs":["z"]},{"id":"y","needs":["x"]},{"id":"x","needs":["y"]},
          {"id":"z","needs":["x"]}]})");
  REQUIRE(json);
  CHECK(Workflow(**json).cycle() == std::vector<std::string>{"x", "y", "x"});
}

TEST_CASE("a step id is a name of a file") {
  for (const char* const id : {"plan", "prüfung 1", "確認", "a.b-c_d", "..."}) {
    CAPTURE(id);
    CHECK(id_fault(id).empty());
  }
  for (const char* const id : {"", ".", "..", "a/b", "a\\b", "a:b", "a\nb", "a\xC2\x85",
                               "a\xE2\x80\xAE", "\xEF\xBB\xBFx"}) {
    CAPTURE(id);
    CHECK_FALSE(id_fault(id).empty());
  }
  CHECK_FALSE(id_fault(std::string(101, 'a')).empty());
}

TEST_CASE("paths are judged as they are written") {
  CHECK(within("/srv/app/.agents/runs", "/srv/app/.agents"));
  CHECK(within("/.agents/x", "/.agents"));
  CHECK_FALSE(within("/srv/app/.agentsx", "/srv/app/.agents"));
  CHECK_FALSE(within("/srv/app/.agents/../x", "/srv/app/.agents"));
  CHECK(leaves_folder("/etc"));
  CHECK(leaves_folder("a/../../b"));
  CHECK_FALSE(leaves_folder("a/../b"));
}

}  // namespace baton::agent_run
