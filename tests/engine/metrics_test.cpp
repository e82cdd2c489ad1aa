// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics.h"

#include <doctest/doctest.h>

namespace baton {
namespace {

const std::map<Role, AgentSpec> kAgents = {{"developer", {}}, {"qa", {}}};

FlowRecord record_with_run(const std::string& name, const Role& agent, RunState state) {
  FlowRecord record;
  record.id = FlowId{"rules", name};
  Run run;
  run.key.role = "developer";
  run.key.subject = "main";
  run.agent = agent;
  run.state = state;
  record.runs.push_back(run);
  return record;
}

std::size_t flows_in(const RootMetrics& metrics, Condition condition) {
  return metrics.flows.at(static_cast<std::size_t>(condition));
}

bool says(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("flows count by condition, and runs by the agent that does the work") {
  FlowRecords records;
  records[FlowId{"rules", "a"}] = record_with_run("a", "qa", RunState::started);
  records[FlowId{"rules", "b"}] = record_with_run("b", "developer", RunState::stopping);
  records[FlowId{"rules", "c"}] = record_with_run("c", "qa", RunState::ended);
  FlowRecord held;
  held.id = FlowId{"rules", "d"};
  held.holds = {{"qa", "main", Reason::role_missing, "no agent plays `qa`"}};
  records[held.id] = held;
  // The root itself is no flow.
  records[FlowId{}] = FlowRecord{};
  const RootMetrics metrics = root_metrics(records, Plan{}, {}, kAgents);
  CHECK(flows_in(metrics, Condition::running) == 2);
  CHECK(flows_in(metrics, Condition::blocked) == 1);
  CHECK(flows_in(metrics, Condition::idle) == 1);
  CHECK(metrics.running == std::map<Role, std::size_t>{{"developer", 1}, {"qa", 1}});
}

TEST_CASE("an agent has a series before it has done anything") {
  const RootMetrics metrics = root_metrics({}, Plan{}, {}, kAgents);
  CHECK(metrics.running == std::map<Role, std::size_t>{{"developer", 0}, {"qa", 0}});
  CHECK(metrics.counters.agents.size() == 2);
}

TEST_CASE("the queue has what starts by itself, and not what a person has to mend") {
  Plan plan;
  plan.holds[FlowId{"rules", "a"}] = {{"qa", "x", Reason::free_place, ""},
                                      {"qa", "y", Reason::free_place, ""},
                                      {"qa", "z", Reason::back_off, ""}};
  plan.holds[FlowId{"rules", "b"}] = {{"qa", "x", Reason::role_missing, ""}};
  const RootMetrics metrics = root_metrics({}, plan, {}, kAgents);
  CHECK(metrics.waiting ==
        std::map<Reason, std::size_t>{{Reason::free_place, 2}, {Reason::back_off, 1}});
}

TEST_CASE("of a parked provider the last time counts, and a time that is over does not") {
  constexpr Time kNow = Time(Millis(1'000'000));
  const auto row = [](std::string provider, std::string model, std::optional<Time> until) {
    Parked parked;
    parked.whose = {std::move(provider), "", std::move(model)};
    parked.until = until;
    return parked;
  };
  RootMetrics metrics;
  add_parked({row("a", "", kNow + Millis(5000)), row("a", "", kNow + Millis(9000)),
              row("a", "", kNow + Millis(1000)), row("b", "", kNow), row("c", "m", std::nullopt),
              row("c", "m", kNow + Millis(1000)), row("d", "", kNow + Millis(1000)),
              row("d", "", std::nullopt)},
             kNow, metrics);
  const std::string text = metrics_text("x", {metrics});
  const std::string name = "baton_provider_parked_until_timestamp_seconds{root=\"\",provider=";
  CHECK(says(text, name + "\"a\",model=\"\"} 1009"));
  CHECK(says(text, name + "\"c\",model=\"m\"} +Inf"));
  CHECK(says(text, name + "\"d\",model=\"\"} +Inf"));
  CHECK(metrics.parked.size() == 3);
}

TEST_CASE("a family has the series of all roots together") {
  RootMetrics one = root_metrics({}, Plan{}, {}, kAgents);
  one.root = "/srv/\"one\"";
  RootMetrics two = root_metrics({}, Plan{}, {}, kAgents);
  two.root = "/srv/two\\";
  two.up = false;
  const std::string text = metrics_text("Written by baton", {one, two});
  CHECK(text.starts_with("# Written by baton\n# HELP baton_up "));
  CHECK(says(text, "baton_up{root=\"/srv/\\\"one\\\"\"} 1\nbaton_up{root=\"/srv/two\\\\\"} 0"));
  // No two series are the same: each has a root.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    CHECK((line.starts_with("#") || line.find("{root=\"/srv/") != std::string::npos));
    at = end + 1;
  }
}

TEST_CASE("the size of a journal that cannot be looked at is left out") {
  RootMetrics metrics;
  CHECK_FALSE(says(metrics_text("x", {metrics}), "baton_journal_bytes{root=\"\"} 0"));
  metrics.journal_bytes = 4096;
  CHECK(says(metrics_text("x", {metrics}), "baton_journal_bytes{root=\"\"} 4096"));
}

}  // namespace
}  // namespace baton
