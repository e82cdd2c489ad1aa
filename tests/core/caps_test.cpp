// SPDX-License-Identifier: Apache-2.0
#include "core/caps.h"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/reconcile.h"

namespace baton {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr const char* kConfiguration = "/etc/baton.yaml";
const Time kNow{Millis(1'769'076'000'000)};

CountedRun a_run(const std::string& id, Time started) {
  CountedRun run;
  run.id = id;
  run.root = "/state/a";
  run.flow = "rules/tickets/x";
  run.configuration = kConfiguration;
  run.role = "developer";
  run.agent = "developer";
  run.rule = "tickets";
  run.dialect = "rules";
  run.provider = "anthropic";
  run.started = started;
  return run;
}

CountedRun ended_run(const std::string& id, Time ended, double cost, std::int64_t tokens = 0) {
  CountedRun run = a_run(id, ended - minutes(1));
  run.ended = ended;
  run.cost_usd = cost;
  run.tokens = tokens;
  return run;
}

CountedRun shell_run(const std::string& id, Time started) {
  CountedRun run = a_run(id, started);
  run.agent.clear();
  run.provider.clear();
  run.role = "shell";
  run.shell = true;
  run.ended = started;
  return run;
}

CapSums sums_of(const CapTable& table, std::vector<CountedRun> runs,
                std::vector<CapRaise> raises = {}, Time now = kNow) {
  Counted counted;
  counted.runs = std::move(runs);
  counted.raises = std::move(raises);
  counted.root = "/state/a";
  return {table, kConfiguration, counted, now};
}

const std::vector<CapPlace> kCovering = {{CapScope::everything, ""},
                                         {CapScope::agent, "developer"},
                                         {CapScope::provider, "anthropic"},
                                         {CapScope::dialect, "rules"},
                                         {CapScope::rule, "tickets"}};
const std::vector<CapPlace> kOthers = {{CapScope::agent, "reviewer"},
                                       {CapScope::provider, "openai"},
                                       {CapScope::dialect, "fsm_loop"},
                                       {CapScope::rule, "bugs"}};

/// The runs that use up a cap of 2 for a key.
std::vector<CountedRun> two_of(CapKey key) {
  switch (key) {
    case CapKey::shell_per_hour:
    case CapKey::shell_per_day: {
      std::vector<CountedRun> runs = {shell_run("1", kNow - minutes(30)),
                                      shell_run("2", kNow - minutes(20))};
      for (CountedRun& run : runs)
        run.provider = run.agent = "", run.rule = "tickets";
      return runs;
    }
    case CapKey::max_running:
      return {a_run("1", kNow - minutes(30)), a_run("2", kNow - minutes(20))};
    case CapKey::spawns_per_hour:
    case CapKey::spawns_per_day:
    case CapKey::cost_per_hour:
    case CapKey::cost_per_day:
    case CapKey::tokens_per_hour:
    case CapKey::tokens_per_day:
    case CapKey::max_flows:
      break;
  }
  return {ended_run("1", kNow - minutes(29), 1, 1), ended_run("2", kNow - minutes(19), 1, 1)};
}

TEST_CASE("every key holds at every place that covers the start, and at no other") {
  for (const CapKey key : kCapKeys) {
    if (key == CapKey::max_flows)
      continue;
    CAPTURE(word(key));
    const bool shell = key == CapKey::shell_per_hour || key == CapKey::shell_per_day;
    const CountedRun start = shell ? shell_run("new", kNow) : a_run("new", kNow);
    for (const CapPlace& place : kCovering) {
      // No agent and no provider does a shell action.
      if (shell && (place.scope == CapScope::agent || place.scope == CapScope::provider))
        continue;
      INFO(text(place));
      const auto reached = sums_of({{place, {{key, 2}}}}, two_of(key)).reached(start);
      REQUIRE(reached);
      CHECK(reached->place == place);
      CHECK(reached->key == key);
      CHECK(reached->sum == doctest::Approx(2));
      CHECK(reached->until.has_value() == window_of(key).has_value());
      CHECK_FALSE(sums_of({{place, {{key, 3}}}}, two_of(key)).reached(start));
    }
    for (const CapPlace& place : kOthers) {
      INFO(text(place));
      CHECK_FALSE(sums_of({{place, {{key, 1}}}}, two_of(key)).reached(start));
    }
  }
}

TEST_CASE("a cap says how much of it is used, and of which place") {
  const auto why = [](const CapTable& table, std::vector<CountedRun> runs) {
    return sums_of(table, std::move(runs)).reached(a_run("new", kNow))->why;
  };
  std::vector<CountedRun> runs;
  for (int i = 0; i < 4; ++i)
    runs.push_back(ended_run(std::to_string(i), kNow - minutes(i), 9, 1000));
  CHECK(why({{{}, {{CapKey::cost_per_day, 30}}}}, runs) ==
        "$36.00 of $30.00 in the last 24 hours (cost_per_day of the whole daemon)");
  CHECK(why({{{CapScope::agent, "developer"}, {{CapKey::spawns_per_hour, 4}}}}, runs) ==
        "4 of 4 starts in the last 60 minutes (spawns_per_hour of the agent developer)");
  CHECK(why({{{CapScope::rule, "tickets"}, {{CapKey::tokens_per_day, 3000}}}}, runs) ==
        "4000 of 3000 tokens in the last 24 hours (tokens_per_day of the rule tickets)");
  CHECK(raise_command({}, CapKey::cost_per_day, 30) ==
        "baton resume --all --raise cost_per_day=30.00");
  CHECK(raise_command({CapScope::provider, "anthropic"}, CapKey::spawns_per_day, 5) ==
        "baton resume --provider anthropic --raise spawns_per_day=5");
}

TEST_CASE("starts go on when enough has left the window") {
  const CapTable table = {{{}, {{CapKey::cost_per_day, 10}}}};
  const CountedRun start = a_run("new", kNow);
  const auto at = [&](Time now) {
    return sums_of(table,
                   {ended_run("a", kNow - hours(20), 6), ended_run("b", kNow - hours(10), 6),
                    ended_run("c", kNow - hours(1), 3)},
                   {}, now)
        .reached(start);
  };
  REQUIRE(at(kNow));
  // 15 of 10: without the first 6 it is 9.
  CHECK(at(kNow)->until == kNow + hours(4));
  CHECK(at(kNow + hours(4) - Millis(1)));
  CHECK_FALSE(at(kNow + hours(4)));
}

TEST_CASE("starts count from their start, costs from the end") {
  CountedRun run = a_run("a", kNow - hours(25));
  run.ended = kNow - hours(1);
  run.cost_usd = 5;
  CHECK_FALSE(sums_of({{{}, {{CapKey::spawns_per_day, 1}}}}, {run}).reached(a_run("new", kNow)));
  CHECK(sums_of({{{}, {{CapKey::cost_per_day, 5}}}}, {run}).reached(a_run("new", kNow)));
}

TEST_CASE("a run that has not ended counts with the average of its agent's last 20") {
  std::vector<CountedRun> runs;
  // 20 runs of $2, and older ones of $100 that do not count for the average.
  for (int i = 0; i < 25; ++i)
    runs.push_back(
        ended_run("old" + std::to_string(i), kNow - hours(25) - minutes(i), i < 20 ? 2 : 100, 10));
  const CapTable table = {{{}, {{CapKey::cost_per_day, 5}}}};
  CapSums sums = sums_of(table, runs);
  CHECK_FALSE(sums.reached(a_run("new", kNow)));
  runs.push_back(a_run("r1", kNow - minutes(5)));
  runs.push_back(a_run("r2", kNow - minutes(4)));
  sums = sums_of(table, runs);
  CHECK_FALSE(sums.reached(a_run("new", kNow)));
  runs.push_back(a_run("r3", kNow - minutes(3)));
  const auto reached = sums_of(table, runs).reached(a_run("new", kNow));
  REQUIRE(reached);
  CHECK(reached->sum == doctest::Approx(6));
  CHECK(reached->until > kNow);
  // The answer does not change with each look.
  CHECK(reached->until ==
        sums_of(table, runs, {}, kNow + minutes(1)).reached(a_run("new", kNow))->until);
}

TEST_CASE("a run that ended without a usable amount counts with the average of its agent") {
  const CapTable table = {{{}, {{CapKey::cost_per_day, 5}, {CapKey::tokens_per_day, 50}}}};
  CountedRun unknown = ended_run("unknown", kNow - minutes(1), 0);
  unknown.cost_usd.reset();
  unknown.tokens.reset();
  std::vector<CountedRun> runs = {ended_run("a", kNow - hours(2), 2, 7), unknown};
  CHECK_FALSE(sums_of(table, runs).reached(a_run("new", kNow)));
  unknown.id = "unknown too";
  runs.push_back(unknown);
  const auto reached = sums_of(table, runs).reached(a_run("new", kNow));
  REQUIRE(reached);
  CHECK(reached->sum == doctest::Approx(6));
  CHECK(reached->why == "$6.00 of $5.00 in the last 24 hours (cost_per_day of the whole daemon)");
  // An agent that never reports a cost has no average.
  for (CountedRun& run : runs)
    run.cost_usd.reset();
  CHECK_FALSE(sums_of(table, runs).reached(a_run("new", kNow)));
}

TEST_CASE("what is expected of running runs is called an estimate") {
  const CapTable table = {{{}, {{CapKey::cost_per_day, 3}}}};
  std::vector<CountedRun> runs = {ended_run("a", kNow - hours(2), 2), a_run("runs", kNow)};
  CapSums sums = sums_of(table, runs);
  const auto reached = sums.reached(a_run("new", kNow));
  REQUIRE(reached);
  CHECK(reached->why ==
        "$4.00 of $3.00 in the last 24 hours, with an estimate of $2.00 for runs that have not "
        "ended (cost_per_day of the whole daemon)");
  const std::string name = cap_name({}, CapKey::cost_per_day);
  CHECK(sums.is_estimate(name));
  runs[1] = ended_run("runs", kNow, 1);
  CHECK_FALSE(sums_of(table, runs).is_estimate(name));
}

TEST_CASE("starts of one step count for each other") {
  CapSums sums = sums_of({{{}, {{CapKey::spawns_per_day, 3}}},
                          {{CapScope::agent, "developer"}, {{CapKey::max_running, 2}}}},
                         {ended_run("a", kNow - hours(1), 0)});
  int starts = 0;
  for (; !sums.reached(a_run("new", kNow)) && starts < 9; ++starts)
    sums.add(a_run("new", kNow));
  CHECK(starts == 2);
  sums.drop_added();
  CHECK_FALSE(sums.reached(a_run("new", kNow)));
}

TEST_CASE("of several caps the one that lasts longest is told") {
  const auto reached = sums_of({{{}, {{CapKey::cost_per_day, 1}}},
                                {{CapScope::agent, "developer"}, {{CapKey::spawns_per_hour, 1}}},
                                {{CapScope::rule, "tickets"}, {{CapKey::max_running, 1}}}},
                               {ended_run("a", kNow - minutes(10), 1), a_run("b", kNow)})
                           .reached(a_run("new", kNow));
  REQUIRE(reached);
  CHECK(reached->key == CapKey::cost_per_day);
}

TEST_CASE("a raise adds to its cap for one window") {
  const CapTable table = {{{}, {{CapKey::cost_per_day, 10}}}};
  const CapRaise raise{kConfiguration, {}, CapKey::cost_per_day, 5, "anna", kNow - hours(1)};
  const auto runs = std::vector{ended_run("a", kNow - minutes(1), 12)};
  CHECK(sums_of(table, runs).reached(a_run("new", kNow)));
  CHECK_FALSE(sums_of(table, runs, {raise}).reached(a_run("new", kNow)));
  CHECK(sums_of(table, runs, {raise}).next_change() == kNow + hours(23));
  CHECK(sums_of(table, runs, {raise}, kNow + hours(23)).reached(a_run("new", kNow)));
  const auto more =
      sums_of(table, {ended_run("a", kNow - minutes(1), 20)}, {raise}).reached(a_run("new", kNow));
  REQUIRE(more);
  CHECK(more->cap == 15);
  CHECK(more->why.find("raised by $5.00 until ") != std::string::npos);
  CHECK(more->why.find(" by anna") != std::string::npos);
  // Of another cap, place or configuration it is none.
  for (CapRaise other : {raise, raise, raise}) {
    static int nth = 0;
    ++nth;
    if (nth == 1)
      other.key = CapKey::cost_per_hour;
    else if (nth == 2)
      other.place = {CapScope::agent, "developer"};
    else
      other.configuration = "/another.yaml";
    CAPTURE(nth);
    CHECK(sums_of(table, runs, {other}).reached(a_run("new", kNow)));
  }
}

TEST_CASE("runs of another configuration do not count") {
  CountedRun run = ended_run("a", kNow - minutes(1), 12);
  run.configuration = "/another.yaml";
  CHECK_FALSE(sums_of({{{}, {{CapKey::cost_per_day, 1}}}}, {run}).reached(a_run("new", kNow)));
}

TEST_CASE("an agent and a shell action do not use each other's caps") {
  const CapTable table = {{{}, {{CapKey::spawns_per_day, 1}, {CapKey::shell_per_day, 1}}}};
  const CapSums agents = sums_of(table, {ended_run("a", kNow - minutes(1), 1)});
  CHECK(agents.reached(a_run("new", kNow)));
  CHECK_FALSE(agents.reached(shell_run("new", kNow)));
  const CapSums shells = sums_of(table, {shell_run("a", kNow - minutes(1))});
  CHECK_FALSE(shells.reached(a_run("new", kNow)));
  CHECK(shells.reached(shell_run("new", kNow)));
  CHECK(shells.use_of({"rules", "tickets/x"}, {}, {}, kNow).shell == 1);
  CHECK(shells.use_of({"rules", "tickets/x"}, {}, kNow, kNow).shell == 0);
  CHECK(shells.use_of({"rules", "tickets/y"}, {}, {}, kNow).shell == 0);
  // An action costs no money.
  CHECK_FALSE(sums_of({{{}, {{CapKey::cost_per_day, 1}}}}, {ended_run("a", kNow, 2)})
                  .reached(shell_run("new", kNow)));
}

TEST_CASE("agents that never report a cost are named where a cap on cost covers them") {
  std::vector<CountedRun> runs;
  const auto add = [&](const Role& agent, std::optional<double> cost) {
    CountedRun run = ended_run(std::to_string(runs.size()), kNow - minutes(1), 0);
    run.agent = agent;
    run.cost_usd = cost;
    runs.push_back(run);
  };
  for (int i = 0; i < 3; ++i) {
    add("silent", std::nullopt);
    add("reports", i == 0 ? std::optional(1.0) : std::nullopt);
  }
  add("young", std::nullopt);
  const CapTable table = {{{}, {{CapKey::cost_per_day, 5}}}};
  CHECK(agents_without_cost(table, kConfiguration, runs) == std::vector<Role>{"silent"});
  // A default tells it of nobody.
  CHECK(agents_without_cost({{{}, default_caps(60)}}, kConfiguration, runs).empty());
  CHECK(agents_without_cost({{{}, {{CapKey::spawns_per_day, 5}}}}, kConfiguration, runs).empty());
  CHECK(agents_without_cost({{{CapScope::agent, "reports"}, {{CapKey::cost_per_day, 5}}}},
                            kConfiguration, runs)
            .empty());
}

TEST_CASE("the words of keys and places are read back") {
  for (const CapKey key : kCapKeys)
    CHECK(parse_cap_key(word(key)) == key);
  for (const CapPlace& place : kCovering)
    CHECK(parse_cap_scope(word(place.scope)) == place.scope);
  CHECK_FALSE(parse_cap_key("cost_per_week"));
  CHECK_FALSE(parse_cap_scope("all"));
}

TEST_CASE("a flow may not begin while there are more than its places allow") {
  const FlowId flow{"rules", "tickets/x"};
  const FlowCounts counts = {
      {{}, 12}, {{CapScope::dialect, "rules"}, 11}, {{CapScope::rule, "tickets"}, 10}};
  for (const auto& row : counts) {
    const CapPlace& place = row.first;
    const std::size_t count = row.second;
    CAPTURE(text(place));
    CHECK_FALSE(sums_of({{place, {{CapKey::max_flows, count}}}}, {}).too_many_flows(flow, counts));
    const auto full =
        sums_of({{place, {{CapKey::max_flows, count - 1}}}}, {}).too_many_flows(flow, counts);
    REQUIRE(full);
    CHECK(full->place == place);
    CHECK_FALSE(full->until);
  }
  const CapRaise raise{kConfiguration, {}, CapKey::max_flows, 5, "anna", kNow - hours(1)};
  CHECK_FALSE(sums_of({{{}, {{CapKey::max_flows, 9}}}}, {}, {raise}).too_many_flows(flow, counts));
  CHECK_FALSE(sums_of({{{CapScope::rule, "bugs"}, {{CapKey::max_flows, 1}}}}, {})
                  .too_many_flows(flow, counts));
}

TEST_CASE("a default cap holds like one that is named, and says that it is a default") {
  std::vector<CountedRun> runs;
  for (int i = 0; i < 2000; ++i)
    runs.push_back(ended_run(std::to_string(i), kNow - minutes(9), 0, 1));
  const auto reached = sums_of({{{}, default_caps(60)}}, runs).reached(a_run("new", kNow));
  REQUIRE(reached);
  CHECK(reached->why.find("2000 of 2000 starts in the last 24 hours (spawns_per_day of the whole "
                          "daemon, a default)") == 0);
  CHECK_FALSE(sums_of({{{}, default_caps(101)}}, runs).reached(a_run("new", kNow)));
}

// ---- in a plan

/// Flows that each want to start the same agent.
struct Wanting {
  explicit Wanting(std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) {
      Decision decision;
      decision.desired.emplace_back();
      decision.desired.back().role = "developer";
      decision.desired.back().subject = "main";
      ids.push_back({"rules", "tickets/" + std::to_string(100 + i)});
      decisions.push_back(decision);
    }
    settings.max_running = 100;
    settings.usable_roles = {{"developer", "/bin/dev"}};
    settings.providers = {{"developer", "anthropic"}};
  }
  Plan plan(CapSums sums, Time now = kNow) {
    Reconciler reconciler;
    reconciler.put(settings);
    for (std::size_t i = 0; i < ids.size(); ++i)
      reconciler.put(
          FlowSituation{ids[i], decisions[i], stages, runs, Control::run, "", "", {}, {}});
    reconciler.plan(now, 0, &sums);
    return reconciler.made();
  }
  std::vector<FlowId> ids;
  std::vector<Decision> decisions;
  std::map<Subject, StageState> stages;
  std::vector<Run> runs;
  PlanSettings settings;
};

TEST_CASE("many flows that become due in one step do not pass a cap") {
  for (const CapPlace& place : kCovering) {
    INFO(text(place));
    Wanting wanting(12);
    const Plan plan = wanting.plan(
        sums_of({{place, {{CapKey::spawns_per_day, 5}}}}, two_of(CapKey::cost_per_day)));
    CHECK(plan.starts.size() == 3);
    CHECK(plan.holds.size() == 9);
    for (const auto& [flow, holds] : plan.holds) {
      REQUIRE(holds.size() == 1);
      CHECK(holds.front().cause == Cause(Reason::cap_reached));
      CHECK(holds.front().action == raise_command(place, CapKey::spawns_per_day, 5));
      CHECK(holds.front().until.has_value());
    }
    // One cap, told once; the plan is made again when it ends.
    CHECK(plan.caps.size() == 1);
    CHECK(plan.waiting);
    CHECK(plan.wake.has_value());
    CHECK(plan.pauses.empty());
  }
}

TEST_CASE("places of an agent on all roots are free places, and no cap that a person lifts") {
  Wanting wanting(4);
  const Plan plan =
      wanting.plan(sums_of({{{CapScope::agent, "developer"}, {{CapKey::max_running, 3}}}},
                           {a_run("elsewhere", kNow - minutes(1))}));
  CHECK(plan.starts.size() == 2);
  CHECK(plan.caps.empty());
  for (const auto& [flow, holds] : plan.holds)
    CHECK(holds.front().cause == Cause(Reason::free_place));
}

TEST_CASE("the caps of one flow in an hour wait for a person; 0 is none") {
  Wanting wanting(1);
  wanting.settings.tokens_per_hour = 100;
  Run run;
  run.key = {wanting.ids[0], "reviewer", "other", 0, 0};
  run.state = RunState::ended;
  run.outcome = Outcome::succeeded;
  run.started = run.ended = kNow - minutes(10);
  run.tokens = 100;
  wanting.runs = {run};
  Plan plan = wanting.plan({});
  CHECK(plan.starts.empty());
  REQUIRE(plan.pauses.size() == 1);
  CHECK(plan.pauses.front().why.find("tokens_per_hour") != std::string::npos);
  // The rule has another limit, or none.
  wanting.settings.rules["tickets"].tokens_per_hour = 101;
  CHECK(wanting.plan({}).starts.size() == 1);
  wanting.settings.rules["tickets"].tokens_per_hour = 0;
  CHECK(wanting.plan({}).starts.size() == 1);
  wanting.settings.rules.clear();
  wanting.settings.tokens_per_hour = 0;
  wanting.settings.cost_per_hour = 0;
  wanting.settings.spawns_per_hour = 0;
  wanting.runs.front().cost_usd = 1000;
  CHECK(wanting.plan({}).starts.size() == 1);
}

}  // namespace
}  // namespace baton
