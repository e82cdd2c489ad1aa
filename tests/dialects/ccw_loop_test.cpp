// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/ccw_loop.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "core/catalog.h"
#include "crashes.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/ccw_loop/next_action.h"
#include "dialects/ccw_loop/progress.h"
#include "dialects/dialects.h"
#include "engine/intake/document_check.h"
#include "stand.h"

namespace baton::testing {
namespace {

namespace fs = std::filesystem;

const fs::path samples_folder = fs::path(BATON_SAMPLES) / "ccw_loop";
const std::string loops_folder = ".workflow/.loop/";

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

const Catalog& catalog() {
  static const Catalog all = Catalog::of({{&ccw_loop_dialect(), Json::object()}});
  return all;
}

DocumentCheck judged(const std::string& path, const std::string& text) {
  Schemas schemas([](std::string_view name) -> Result<std::string> {
    return fail(Errc::not_found, "there is no schema " + std::string(name));
  });
  const auto match = catalog().match(path);
  REQUIRE(match);
  return check_document(*match, path, text, schemas, LoadLimits{});
}

struct Place : Stand {
  Place() {
    flow = {"ccw_loop", "loop-v2-a"};
    wall = *parse_time("2026-01-22T12:00:00Z");
  }
  Place& put(const std::string& path, const std::string& text) {
    Stand::put(catalog(), path, text);
    return *this;
  }
  Decision decide() {
    stages.clear();
    for (const auto& [subject, stage] : ccw_loop_dialect().stages(view()))
      stages[subject] = StageState{stage, "", 1, 1, wall, 1};
    return ccw_loop_dialect().decide(view());
  }
};

}  // namespace

TEST_SUITE("ccw_loop") {
  TEST_CASE("every sample is followed by what has to happen next when no executor lives") {
    struct Row {
      std::string file;
      std::string purpose;  ///< empty: nothing
    };
    for (const Row& row : {
             Row{"valid/loop-v2-20260204T063112-9f3ac0d1.json", ""},
             Row{"valid/loop-v2-20260123T011530-5d0e77c2.json", "develop"},
             Row{"valid/loop-v2-20260125T040000-0badf00d.json", "debug"},
             Row{"valid/loop-v2-20260126T093000-e440e440.json", ""},
             Row{"valid/loop-v2-20260127T100000-c0mp1e7e.json", ""},
             Row{"valid/loop-v2-20260128T110000-ex17ex17.json", ""},
             Row{"valid/loop-v2-20260201T000000-1a26e0aa.json", "develop"},
             Row{"valid/loop-v2-20260122T000026-bom00026.json", ""},
             Row{"semantic/loop-v2-20260122T000035-sem00035.json", ""},
         }) {
      CAPTURE(row.file);
      const std::string path = loops_folder + fs::path(row.file).filename().string();
      const std::string text = slurp(samples_folder / row.file);
      CHECK(judged(path, text).accepted());
      Place place;
      const Decision decision = place.put(path, text).decide();
      CHECK(decision.updates.empty());
      REQUIRE(decision.desired.size() == (row.purpose.empty() ? 0U : 1U));
      if (!row.purpose.empty()) {
        CHECK(decision.desired[0].role == "executor");
        CHECK(decision.desired[0].purpose == row.purpose);
      }
    }
  }

  TEST_CASE("the lost pause of the samples is repaired as expected") {
    const fs::path folder = samples_folder / "transitions" / "lost_pause";
    const std::string path = loops_folder + "loop-v2-20260129T120000-1057pa5e.json";
    const auto version = [&](const char* name) { return slurp(folder / name); };
    const auto config = parse_json(R"({"agents": {"executor": {}}})");
    World world;
    auto setup = setup_of(*config, "ccw_loop");
    REQUIRE(setup);
    world.setup = std::move(*setup);
    REQUIRE(world.start());
    for (const char* const name :
         {"1_agent_working.json", "2_user_paused.json", "3_agent_overwrites.json"}) {
      world.disk.write(path, version(name));
      REQUIRE(world.settle());
    }
    const auto got = parse_json(*world.disk.file(path));
    const auto expected = parse_json(version("4_expected_after_repair.json"));
    REQUIRE(got);
    REQUIRE(expected);
    CHECK(got->dump() == expected->dump());
    CHECK(world.faults().empty());
  }

  TEST_CASE("killed at any moment of a start, baton starts once and counts once") {
    const std::string path = loops_folder + "loop-v2-20260123T011530-5d0e77c2.json";
    const std::string text = slurp(samples_folder / "valid/loop-v2-20260123T011530-5d0e77c2.json");
    const std::int64_t before = json::integer(**parse_json(text), "current_iteration").value_or(-1);
    Crashes crashes;
    crashes.config = R"({"granularity": "action", "agents": {"executor": {}}})";
    crashes.dialect = "ccw_loop";
    crashes.act = [&](World& world) {
      world.disk.write(path, text);
      return world.settle();
    };
    crashes.look = [&](World& world) {
      CHECK(world.agents.in(FakeAgents::State::running).size() == 1);
      const auto now = parse_json(*world.disk.file(path));
      REQUIRE(now);
      CHECK(json::integer(**now, "current_iteration") == before + 1);
    };
    crashes.sweep();
  }

  TEST_CASE("killed at any moment of a lost pause, the pause holds") {
    const std::string loop = "loop-v2-20260129T120000-1057pa5e";
    const std::string path = loops_folder + loop + ".json";
    const fs::path folder = samples_folder / "transitions" / "lost_pause";
    Crashes crashes;
    crashes.config = R"({"agents": {"executor": {}}})";
    crashes.dialect = "ccw_loop";
    crashes.prepare = [&](World& world) {
      world.disk.write(path, slurp(folder / "1_agent_working.json"));
      REQUIRE(world.settle());
      Request pause;
      pause.id = "request-1";
      pause.verb = "pause";
      pause.flow = FlowId{"ccw_loop", loop};
      pause.arguments = Json::object();
      world.requests.add(pause);
    };
    crashes.act = [&](World& world) {
      if (auto paused = world.settle(); !paused)
        return paused;
      world.disk.write(path, slurp(folder / "3_agent_overwrites.json"));
      return world.settle();
    };
    crashes.again = [&](World& world) {
      world.disk.write(path, slurp(folder / "3_agent_overwrites.json"));
    };
    crashes.look = [&](World& world) {
      const auto now = parse_json(*world.disk.file(path));
      REQUIRE(now);
      CHECK(json::text(**now, "status") == "paused");
      CHECK(json::integer(*json::at(**now, "/skill_state/develop"), "completed") == 1);
      CHECK(world.agents.in(FakeAgents::State::running).empty());
    };
    crashes.sweep();
  }

  TEST_CASE("the block of a result is read, whatever surrounds it") {
    using ccw_loop::Action;
    struct Row {
      std::string output;
      bool found;
      std::string next;
      std::optional<Action> action;
    };
    for (const Row& row : {
             Row{"", false, "", std::nullopt},
             Row{"no block\n- status: success\nNEXT_ACTION_NEEDED: DEBUG\n", false, "",
                 std::nullopt},
             Row{"ACTION_RESULT:\n- action: develop\n- status: success\n", true, "NONE",
                 std::nullopt},
             Row{"noise\nACTION_RESULT:\r\n- status: success\r\nNEXT_ACTION_NEEDED: VALIDATE\r\n",
                 true, "VALIDATE", Action::validate},
             Row{"ACTION_RESULT:\nNEXT_ACTION_NEEDED: DEBUG\nACTION_RESULT:\n"
                 "NEXT_ACTION_NEEDED: **DEVELOP**",
                 true, "DEVELOP", Action::develop},
             Row{"ACTION_RESULT:\nNEXT_ACTION_NEEDED: WAITING_INPUT\n", true, "WAITING_INPUT",
                 std::nullopt},
             Row{"ACTION_RESULT:\nNEXT_ACTION_NEEDED: debug\n", true, "debug", std::nullopt},
         }) {
      CAPTURE(row.output);
      const ccw_loop::ResultBlock block = ccw_loop::result_block(row.output);
      CHECK(block.found == row.found);
      CHECK(block.next == row.next);
      CHECK(ccw_loop::proposed(block) == row.action);
    }
    const auto told = ccw_loop::result_block(
        "ACTION_RESULT:\n- action: validate\n- status: needs_input\n- message: which: a or b?\n"
        "- state_updates: {\"status\": \"completed\"}\n");
    CHECK(told.action == "validate");
    CHECK(told.status == "needs_input");
    CHECK(told.message == "which: a or b?");
  }

  TEST_CASE("what an executor proposes counts only where it is possible and harmless") {
    struct Row {
      std::string next;
      std::string purpose;
    };
    // All tasks are done and nothing is validated: by itself VALIDATE comes next.
    const std::string path = loops_folder + "loop-v2-a.json";
    const std::string text = R"({"loop_id": "loop-v2-a", "title": "t", "description": "d",
      "max_iterations": 10, "status": "running", "current_iteration": 1,
      "created_at": "2026-01-22T10:00:00Z", "updated_at": "2026-01-22T10:00:00Z", "skill_state":
      {"develop": {"tasks": [{"id": "t1", "description": "d", "status": "completed"}],
                   "last_progress_at": "2026-01-22T10:00:00Z"}, "debug": {}, "validate": {}}})";
    for (const Row& row :
         {Row{"DEBUG", "debug"}, Row{"VALIDATE", "validate"}, Row{"COMPLETE", "validate"},
          Row{"DEVELOP", "validate"}, Row{"INIT", "validate"}, Row{"STOPPED", "validate"}}) {
      CAPTURE(row.next);
      Place place;
      place.put(path, text);
      place.options.set("granularity", "action");
      Run run;
      run.id = "run";
      run.key = Key{place.flow, "executor", "main", 1, 0};
      run.state = RunState::ended;
      run.outcome = Outcome::succeeded;
      run.purpose = "develop";
      run.output = "ACTION_RESULT:\n- status: success\nNEXT_ACTION_NEEDED: " + row.next + "\n";
      place.runs.push_back(run);
      const Decision decision = place.decide();
      REQUIRE(decision.desired.size() == 1);
      CHECK(decision.desired[0].purpose == row.purpose);
      CHECK(decision.desired[0].turn == 1);
    }
  }

  TEST_CASE("a new loop has an id of its own, waits, and is valid") {
    const std::string id = ccw_loop::fresh_id(*parse_time("2026-02-03T04:05:06Z"), "request-1");
    CHECK(id.starts_with("loop-v2-20260203T040506-"));
    CHECK(id.size() == std::string("loop-v2-20260203T040506-12345678").size());
    CHECK(id != ccw_loop::fresh_id(*parse_time("2026-02-03T04:05:06Z"), "request-2"));
    Place place;
    place.flow.name = id;
    Request request;
    request.verb = "create";
    request.arguments = *parse_json(R"({"title": " Add login ", "max_iterations": 5,
                                        "tasks": ["form", "check"]})");
    const auto updates = ccw_loop_dialect().create(request, place.view());
    REQUIRE(updates);
    REQUIRE(updates->size() == 2);
    const auto& list = std::get<Create>((*updates)[0]);
    const auto& state = std::get<Create>((*updates)[1]);
    CHECK(list.path == loops_folder + id + ".tasks.jsonl");
    CHECK(judged(list.path, list.text).findings.empty());
    CHECK(judged(state.path, state.text).findings.empty());
    const auto made = parse_json(state.text);
    REQUIRE(made);
    CHECK(json::text(**made, "status") == "created");
    CHECK(json::text(**made, "title") == "Add login");
    CHECK(json::integer(**made, "max_iterations") == 5);
  }

  TEST_CASE("a loop that makes no sense is not created") {
    struct Row {
      std::string name;
      std::string arguments;
    };
    for (const Row& row : {Row{"loop-v2-x", R"({})"}, Row{"loop-v2-x", R"({"title": "  "})"},
                           Row{"loop-v2-x", R"({"title": "t", "max_iterations": 0})"},
                           Row{"loop-v2-x", R"({"title": "t", "max_iterations": "ten"})"},
                           Row{"loop-v2-x", R"({"title": "t", "tasks": [""]})"},
                           Row{"loop-v2-x", R"({"title": "t", "priority": "low"})"},
                           Row{"x", R"({"title": "t"})"}, Row{"loop-v2-", R"({"title": "t"})"}}) {
      CAPTURE(row.name);
      CAPTURE(row.arguments);
      Place place;
      place.flow.name = row.name;
      Request request;
      request.verb = "create";
      request.arguments = *parse_json(row.arguments);
      const auto updates = ccw_loop_dialect().create(request, place.view());
      REQUIRE_FALSE(updates);
      CHECK(updates.error().code == Errc::usage);
    }
  }

  TEST_CASE("a task list is read from the first place that has one, glued or torn") {
    Place place;
    place.put(loops_folder + "loop-v2-a.tasks.jsonl", slurp(samples_folder / "tasks/glued.jsonl"));
    const ccw_loop::TaskList glued = ccw_loop::task_list(place.docs);
    REQUIRE(glued.tasks.size() >= 3);
    for (std::size_t i = 1; i < glued.tasks.size(); ++i)
      CHECK(json::integer(*glued.tasks[i - 1], "order") <= json::integer(*glued.tasks[i], "order"));
    const Json develop = ccw_loop::develop_tasks(glued);
    CHECK(json::text(develop->GetArray()[1], "mode") == "analysis");
    CHECK(json::text(develop->GetArray()[1], "status") == "pending");
    place.put(loops_folder + "loop-v2-a/tasks.jsonl",
              "{\"task_id\": \"a\", \"description\": \"old\"}\n"
              "{\"task_id\": \"b\", \"description\": \"b\"}"
              "{\"task_id\": \"a\", \"description\": \"new\"}\n{\"task_id\": \"c");
    const ccw_loop::TaskList folder = ccw_loop::task_list(place.docs);
    REQUIRE(folder.tasks.size() == 2);
    CHECK(json::text(*folder.tasks[1], "description") == "new");
  }

  TEST_CASE("the prompt tells everything, in sections") {
    Place place;
    const std::string path = loops_folder + "loop-v2-a.json";
    place.options.set("granularity", "action");
    place.put(path, R"({"loop_id": "loop-v2-a", "title": "t", "description": "Add login",
      "max_iterations": 10, "status": "running", "current_iteration": 1,
      "created_at": "2026-01-22T10:00:00Z", "updated_at": "2026-01-22T10:00:00Z", "skill_state":
      {"mode": "auto", "develop": {"tasks": [{"id": "t1", "description": "d", "status": "pending"}]},
       "errors": [{"action": "develop", "message": "no disk", "timestamp": "t"}]}})");
    place.put(loops_folder + "loop-v2-a.tasks.jsonl",
              R"({"task_id": "x", "description": "look", "tool": "codex", "mode": "review"})");
    place.docs[path].rejected =
        R"([{"line": 3, "pointer": "/status", "message": "no status", "expected": "paused"},
            {"line": 4, "rule": "json", "message": "':' is expected", "expected": "':'"}])";
    Run run;
    run.id = "run";
    run.key = Key{place.flow, "executor", "main", 1, 0};
    run.state = RunState::ended;
    run.outcome = Outcome::failed;
    run.reason = "exit_7";
    run.purpose = "develop";
    run.output = "cannot compile\n";
    place.runs.push_back(run);
    const Decision decision = place.decide();
    Desired desired;
    desired.role = "executor";
    desired.subject = "main";
    desired.purpose = "develop";
    desired.why = "1 task is pending";
    const Brief brief = ccw_loop_dialect().brief(place.view(), desired);
    std::vector<std::string> sections;
    const std::string prompt = testing::prompt_of(ccw_loop_dialect(), place.view(), desired);
    std::istringstream lines(prompt);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("## "))
        sections.push_back(line.substr(3));
    CHECK(sections == std::vector<std::string>{"The task", "Your action: develop",
                                               "Why you were started", "Mode", "Files", "Rules",
                                               "Not accepted", "The last executor",
                                               "Prepared tasks", "The state file now"});
    const std::string folder = "/root/.workflow/.loop/loop-v2-a.progress";
    for (const std::string& part :
         {std::string("Add login"), std::string("1 task is pending"), "- state file: /root/" + path,
          "- progress directory: " + folder, std::string("/status: no status; expected: paused"),
          std::string("line 4, : ':' is expected [json]\n"), std::string("ended as \"exit_7\""),
          std::string("cannot compile"), std::string("no disk"),
          std::string("\"mode\": \"analysis\""), std::string("\"current_iteration\": 1"),
          std::string("baton counts")}) {
      CAPTURE(part);
      CHECK(prompt.find(part) != std::string::npos);
    }
    CHECK(brief.state_file == path);
    for (const auto& [name, value] :
         {std::pair("action", std::string("develop")),
          std::pair("loop_id", std::string("loop-v2-a")), std::pair("mode", std::string("auto")),
          std::pair("progress_dir", folder)})
      CHECK(brief.values.at(name) == value);
    CHECK(brief.env ==
          std::vector<std::pair<std::string, std::string>>{{"CCW_LOOP_ID", "loop-v2-a"},
                                                           {"CCW_LOOP_PROGRESS_DIR", folder},
                                                           {"CCW_LOOP_ACTION", "develop"},
                                                           {"CCW_LOOP_MODE", "auto"}});
  }
}

}  // namespace baton::testing
