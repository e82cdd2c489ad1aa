// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "crashes.h"

namespace baton::testing {
namespace {

constexpr const char* kPlan = R"({"session_id": "s", "mode": "parallel",
  "original_requirements": "x", "task_groups": [{"id": "A"}, {"id": "B"}], "iteration": 1,
  "last_update": "2026-01-22T10:00:00Z"})";
constexpr const char* kState = R"({"session_id": "s", "current_phase": "initialization",
  "iteration": 0, "total_spawns": 0, "status": "running", "start_time": "2026-01-22T10:00:00Z",
  "active_agents": [], "decisions_log": []})";

std::int64_t number(World& world, const std::string& path, const std::string& pointer) {
  auto parsed = parse_json(*world.disk.file(path));
  REQUIRE(parsed);
  const Value* const value = json::at(**parsed, pointer);
  return value == nullptr ? -1 : json::integer(*value).value_or(-1);
}

/// How many starts the log tells of, without those that it takes back; -1 when their numbers do not
/// follow.
std::int64_t logged(World& world) {
  auto parsed = parse_json(*world.disk.file("coordination/orchestrator_state.json"));
  REQUIRE(parsed);
  std::int64_t starts = 0;
  const Value* const log = json::child(**parsed, "decisions_log");
  REQUIRE(log != nullptr);
  for (const Value& entry : log->GetArray()) {
    const bool undone = json::text(entry, "decision") == "undo_spawn";
    if (json::integer(entry, "iteration") != starts + (undone ? -1 : 1))
      return -1;
    starts += undone ? -1 : json::text(entry, "decision") == "spawn_2_developers_parallel" ? 2 : 1;
  }
  return starts;
}

}  // namespace

namespace {

/// Ids of the messages in mailbox and archive, in this order.
std::vector<std::string> mail_ids(World& world) {
  std::vector<std::string> ids;
  for (const char* const path :
       {"coordination/messages/archive/dev_to_qa.json", "coordination/messages/dev_to_qa.json"})
    if (const std::string* const bytes = world.disk.file(path)) {
      const auto parsed = parse_json(*bytes);
      REQUIRE(parsed);
      for (const Value& message : json::child(**parsed, "messages")->GetArray())
        ids.emplace_back(json::text(message, "id").value_or(""));
    }
  return ids;
}

constexpr const char* kMail = R"({"messages": [
  {"id": "m1", "group_id": "A", "from": "developer", "to": "qa_expert", "read": true,
   "timestamp": "2026-01-22T10:00:00Z"},
  {"id": "m2", "group_id": "A", "from": "developer", "to": "qa_expert", "read": true,
   "timestamp": "2026-01-22T10:00:00Z"},
  {"id": "m3", "group_id": "A", "from": "developer", "to": "qa_expert",
   "timestamp": "2026-01-22T10:00:00Z"}]})";

}  // namespace

TEST_SUITE("coordination") {
  TEST_CASE("killed at any moment of moving old messages, baton loses and doubles none") {
    auto config = parse_json(R"({"agents": {}, "archive_days": 1, "stall_minutes": 0})");
    REQUIRE(config);
    bool blown = true;
    std::uint64_t moments = 0;
    for (; blown; ++moments) {
      CAPTURE(moments);
      World world;
      auto setup = setup_of(*config, "coordination");
      REQUIRE(setup);
      world.setup = std::move(*setup);
      REQUIRE(world.start());
      world.disk.write("coordination/orchestrator_state.json", kState);
      world.disk.write("coordination/group_status.json", "{}");
      world.disk.write("coordination/messages/dev_to_qa.json", kMail);
      world.disk.write("coordination/pm_state.json", kPlan);
      REQUIRE(world.settle());
      world.fuse.light(moments + 1);
      blown = false;
      try {
        const auto passed = world.pass(std::chrono::hours(25));
        CHECK(passed.has_value());
      } catch (const DaemonKilled&) {
        blown = true;
      }
      world.fuse.cut();
      world.kill();
      const std::vector<std::string> between = mail_ids(world);
      for (const char* const id : {"m1", "m2", "m3"})
        CHECK(std::find(between.begin(), between.end(), id) != between.end());
      REQUIRE(world.start());
      REQUIRE(world.settle());
      REQUIRE(world.pass(std::chrono::hours(25)));
      CHECK(world.faults().empty());
      CHECK(mail_ids(world) == std::vector<std::string>{"m1", "m2", "m3"});
    }
    CHECK(moments > 10);
  }

  TEST_CASE("killed at any moment of two starts, baton starts each once and counts right") {
    Crashes crashes;
    crashes.config = R"({"agents": {"developer": {}}})";
    crashes.dialect = "coordination";
    crashes.act = [](World& world) {
      world.disk.write("coordination/orchestrator_state.json", kState);
      world.disk.write("coordination/group_status.json", "{}");
      world.disk.write("coordination/pm_state.json", kPlan);
      return world.settle();
    };
    crashes.look = [](World& world) {
      CHECK(world.agents.in(FakeAgents::State::running).size() == 2);
      CHECK(number(world, "coordination/orchestrator_state.json", "/total_spawns") == 2);
      CHECK(logged(world) == 2);
      CHECK(number(world, "coordination/group_status.json", "/A/iterations/developer") == 1);
      CHECK(number(world, "coordination/group_status.json", "/B/iterations/developer") == 1);
    };
    crashes.sweep();
  }
}

}  // namespace baton::testing
