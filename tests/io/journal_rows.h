// SPDX-License-Identifier: Apache-2.0
#pragma once

// One row of every kind, with values that are easily mixed up all different.

#include <string>
#include <utility>

#include "core/ports.h"

namespace baton::test {

inline Time at(std::int64_t seconds) {
  return Time(Millis(seconds * 1000 + 7));
}
inline FlowId flow_a() {
  return {"rules", "tickets/a"};
}
inline FlowId flow_b() {
  return {"coordination", "b"};
}

inline Run sample_run(const std::string& id, std::uint64_t generation, std::int64_t started) {
  Run run;
  run.id = id;
  run.key = {flow_a(), "developer", "group \"1\"", generation, 2};
  run.attempt = 3;
  run.purpose = "implement";
  run.stage = "pending";
  run.why = "status is pending";
  run.started = at(started);
  run.pid = 4711;
  run.start_ticks = 99'000'000'000;
  run.boot_id = "0f-1e";
  run.limits = {Millis(1), Millis(2), Millis(3), 4};
  run.claims = {{"file:src/a.c", 1}, {"places", 4}};
  run.base = {{"tickets/a.json", digest_of("one")}, {"tickets/ä b.json", digest_of("two")}};
  return run;
}

inline Run ended_run(const std::string& id, std::uint64_t generation, std::int64_t started) {
  Run run = sample_run(id, generation, started);
  run.state = RunState::ended;
  run.outcome = Outcome::failed;
  run.ended = at(started + 60);
  run.exit_code = -3;
  run.reason = "exit_253";
  run.stop_why = "not asked";
  run.signal = 15;
  run.forgiven = true;
  run.cost_usd = 0.125;
  run.tokens = 123'456'789'012;
  return run;
}

inline StageRow sample_stage(std::uint64_t generation) {
  StageRow row;
  row.flow = flow_a();
  row.subject = "group \"1\"";
  row.state = {"pending", "created", generation, 2, at(50), 41, "planned"};
  row.entries = {{"pending", 2}, {"a \"b\"", 1}};
  return row;
}

inline Intent sample_intent(std::uint64_t id, Intent::Kind kind) {
  Intent intent;
  intent.id = id;
  intent.kind = kind;
  intent.path = "tickets/a.json";
  intent.assumes = digest_of("before");
  intent.assumes_bytes = 17;
  intent.bytes = std::string("new\0bytes", 9);
  intent.after = digest_of("after");
  intent.to = "archive/a.json";
  intent.flow = flow_a();
  intent.why = "because";
  return intent;
}

inline Commit sample_commit() {
  Commit commit;
  AcceptedRow row{"tickets/a.json", flow_a(), "ticket", "a", digest_of("x"), 40, "baton", true, 7};
  commit.accepted.emplace_back(row, std::string("{\"a\":\0}", 7));
  row = {"b/gone.json", flow_b(), "state", "", digest_of(""), 39, "", false};
  commit.accepted.emplace_back(row, "");
  commit.rejected.push_back(
      {"b/bad.json", flow_b(), digest_of("bad"), "[{\"rule\":\"json\"}]", at(9)});
  commit.replaced.emplace_back("tickets/a.json", "what was there");
  commit.stages.push_back(sample_stage(5));
  commit.memos.emplace_back(flow_a(), Json::object({{"base", Json(3)}, {"text", Json("ä\n")}}));
  commit.memos.emplace_back(flow_b(), Json());
  commit.runs = {ended_run("aa01", 5, 1000), sample_run("ab02", 5, 1100)};
  commit.intents = {
      sample_intent(6, Intent::Kind::restore), sample_intent(7, Intent::Kind::replace),
      sample_intent(8, Intent::Kind::append),  sample_intent(9, Intent::Kind::create),
      sample_intent(10, Intent::Kind::move),   sample_intent(11, Intent::Kind::backup)};
  commit.controls.push_back({flow_a(), Control::pause, "asked", "by anna", at(3), at(2), true});
  commit.controls.push_back({{}, Control::idle, "", "", at(0), at(0), false});
  commit.requests.push_back({"r1", "pause", flow_a(), "", Json::object(), "anna", "", at(3)});
  commit.replies.push_back({"r1", true, "paused"});
  commit.events.push_back({0, at(3), "paused", flow_a(), "g", "developer", "aa01", "by anna"});
  commit.events.push_back({0, at(4), "rescan", {}, "", "", "", "timer"});
  return commit;
}

}  // namespace baton::test
