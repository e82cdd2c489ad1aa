// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "config/registry.h"
#include "core/catalog.h"

namespace baton {
namespace {

Catalog catalog_of(const std::string& name, const std::string& options = "") {
  const Dialect* const found = dialect(name);
  REQUIRE(found != nullptr);
  return Catalog::of({{found, options.empty() ? Json() : parse_json(options).value()}});
}

}  // namespace

TEST_CASE("baton may write the files of a dialect, its archives and its backups") {
  struct Row {
    std::string dialect;
    std::vector<std::string> fine;
    std::vector<std::string> barred;
  };
  const std::vector<Row> rows = {
      {"agent_run",
       {".agents/runs/r1/run_state.json", ".agents/runs/r1/reports/.keep",
        ".agents/runs/r1/reports/archive/r1__build__i1.json",
        ".agents/runs/.x/manual_inputs/archive/x__ask__i1_early.json"},
       {".agents/runs/r1/run.sh", ".agents/runs/r1/../../x/.keep", ".agents/AGENTS.md"}},
      {"ccw_loop",
       {".workflow/.loop/loop-v2-a.json", ".workflow/.loop/.forgotten/20260122/loop-v2-a.json",
        ".workflow/.loop/.forgotten/20260122/loop-v2-a.progress/develop.md"},
       {".workflow/.loop/.forgotten/20260122/x.sh", ".workflow/.loop/.forgotten/x"}},
      {"fsm_loop",
       {".loops/.running/x.lock", ".loops/.running/x.events.jsonl",
        ".loops/.history/20260122T100000-x/lock.2.json", ".loops/.history/20260122T100000-x/pid.1"},
       {".loops/x.sh", ".loops/.history/../x.sh", ".loops/.history/x"}},
      {"ml_workflow",
       {"workflow_states/wf/state.json", "workflow_states/wf/artifacts/step_1/.keep",
        "workflow_states/wf/backups/state_step1_20260504T093000.123Z.json.gz"},
       {"workflow_states/wf/artifacts/step_1/run.py", "workflow_states/wf/backups"}},
      {"coordination",
       {"coordination/pm_state.json", "coordination/inbox/archive/A_20260122_1.json"},
       {"coordination/inbox/archive/a.sh", "coordination/x"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.dialect);
    const Catalog catalog = catalog_of(row.dialect);
    for (const std::string& path : row.fine) {
      CAPTURE(path);
      CHECK(catalog.may_write(path));
    }
    std::vector<std::string> barred = row.barred;
    barred.insert(barred.end(), {"baton.yaml", "deploy.sh", ".git/config", ".git/hooks/pre-commit",
                                 "prompts/dev.md", "", "/", "..", "{flow}", "a//b"});
    for (const std::string& path : barred) {
      CAPTURE(path);
      CHECK_FALSE(catalog.may_write(path));
    }
  }
}

TEST_CASE("no rule lets baton write its configuration or into .git") {
  const Catalog catalog = catalog_of("rules", R"({"rules": [
      {"name": "all", "files": "{flow}.yaml", "stage": "/s"},
      {"name": "git", "files": ".git/{flow}.json", "stage": "/s"}]})");
  CHECK(catalog.may_write("x.yaml"));
  CHECK(catalog.may_write(".decided/x.3.yaml"));
  for (const char* path : {"baton.yaml", ".git/x.json", ".git/.decided/x.json"}) {
    CAPTURE(path);
    CHECK_FALSE(catalog.may_write(path));
  }
}

}  // namespace baton
