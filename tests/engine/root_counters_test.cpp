// SPDX-License-Identifier: Apache-2.0
#include "engine/root_counters.h"

#include <doctest/doctest.h>

#include "base/json/document.h"

namespace baton {
namespace {

using Agents = std::map<Role, AgentSpec>;

const Agents kKnown = {{"developer", {}}, {"qa", {}}};

Event event_of(Arrival seq, Word word, RunId run = "r1", Role role = "developer") {
  Event event;
  event.seq = seq;
  event.event = std::move(word);
  event.run = std::move(run);
  event.role = std::move(role);
  return event;
}

Run ended_run(Role agent, Outcome outcome, std::optional<double> cost = {},
              std::optional<std::int64_t> tokens = {}) {
  Run run;
  run.agent = std::move(agent);
  run.outcome = outcome;
  run.cost_usd = cost;
  run.tokens = tokens;
  return run;
}

TEST_CASE("starts and ends are counted for the agent that did the work") {
  RootCounters counters;
  const Run run = ended_run("qa", Outcome::failed, 0.5, 100);
  counters.count(event_of(1, "started"), run, kKnown);
  counters.count(event_of(2, "ended"), run, kKnown);
  REQUIRE(counters.agents.size() == 1);
  const AgentCounters& qa = counters.agents.at("qa");
  CHECK(qa.started == 1);
  CHECK(qa.ended == std::map<Outcome, std::uint64_t>{{Outcome::failed, 1}});
  CHECK(qa.cost_usd == 0.5);
  CHECK(qa.tokens == 100);
}

TEST_CASE("an event is counted once") {
  RootCounters counters;
  counters.count(event_of(7, "started"), std::nullopt, kKnown);
  counters.count(event_of(7, "started"), std::nullopt, kKnown);
  counters.count(event_of(3, "started"), std::nullopt, kKnown);
  // What is not in the journal has no number.
  counters.count(event_of(0, "started"), std::nullopt, kKnown);
  CHECK(counters.agents.at("developer").started == 1);
  CHECK(counters.seq == 7);
}

TEST_CASE("only runs are counted, and the place in the history is kept") {
  RootCounters counters;
  counters.count(event_of(1, "accepted"), std::nullopt, kKnown);
  counters.count(event_of(2, "started", ""), std::nullopt, kKnown);
  counters.count(event_of(3, "stage", ""), std::nullopt, kKnown);
  CHECK(counters.agents.empty());
  CHECK(counters.seq == 3);
}

TEST_CASE("the end of a run that the journal dropped has an unknown outcome") {
  RootCounters counters;
  counters.count(event_of(1, "ended"), std::nullopt, kKnown);
  CHECK(counters.agents.at("developer").ended.at(Outcome::unknown) == 1);
}

TEST_CASE("roles without an agent of their own count as default") {
  Agents agents = kKnown;
  CHECK(counted_as("other", agents) == "other");
  agents["default"] = {};
  CHECK(counted_as("other", agents) == "default");
  CHECK(counted_as("qa", agents) == "qa");
  CHECK(counted_as(Role(kActionRole), agents) == kActionRole);
}

TEST_CASE("a latency counts in the first bucket that holds it") {
  LatencyCounts latency;
  for (const int millis : {0, 5, 6, 30'000, 30'001, -9})
    latency.add(Millis(millis));
  CHECK(latency.counts.front() == 3);
  CHECK(latency.counts.at(1) == 1);
  CHECK(latency.counts.at(kLatencyBounds.size() - 1) == 1);
  CHECK(latency.counts.back() == 1);
  CHECK(latency.sum == Millis(60'012));
}

TEST_CASE("counters are read back as they were written") {
  RootCounters counters;
  counters.count(event_of(1, "started"), std::nullopt, kKnown);
  counters.count(event_of(9, "ended"), ended_run("developer", Outcome::succeeded, 1.25, 7), kKnown);
  counters.watch_overflows = 3;
  counters.latency.add(Millis(12));
  const auto json = parse_json(json_of(counters).dump());
  REQUIRE(json.has_value());
  CHECK(root_counters_in(**json) == counters);
}

TEST_CASE("damaged counters give none, or zero where they are damaged") {
  struct Row {
    const char* text;
    bool read;
  };
  for (
      const Row& row : {
          Row{"null", false},
          Row{"[]", false},
          Row{"{}", false},
          Row{R"({"agents":[],"latency":{}})", false},
          Row{R"({"agents":{},"latency":null})", true},
          Row{R"({"seq":-4,"agents":{"a":7,"b":{"started":-1,"ended":{"odd":3,"failed":-2},"cost":-1,"tokens":"x"}},
                "watch_overflows":null,"latency":{"counts":[1,2],"sum_ms":9}})",
              true},
      }) {
    CAPTURE(row.text);
    const auto json = parse_json(row.text);
    REQUIRE(json.has_value());
    const auto read = root_counters_in(**json);
    REQUIRE(read.has_value() == row.read);
    if (!read)
      continue;
    CHECK(read->seq == 0);
    CHECK(read->watch_overflows == 0);
    CHECK(read->latency == LatencyCounts{});
    for (const auto& [name, agent] : read->agents) {
      CHECK(agent.started == 0);
      CHECK(agent.cost_usd == 0);
      CHECK(agent.tokens == 0);
      for (const auto& [outcome, count] : agent.ended)
        CHECK(count == 0);
    }
  }
}

}  // namespace
}  // namespace baton
