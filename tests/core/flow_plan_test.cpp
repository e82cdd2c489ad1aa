// SPDX-License-Identifier: Apache-2.0
#include "core/flow_plan.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/caps.h"
#include "core/reconcile.h"

namespace baton {
namespace {

Time at(const std::string& time) {
  return *parse_time("2026-01-22T" + time + ":00Z");
}

const FlowId kFlow{"rules", "tickets/1"};

Hold limit_until(const std::string& provider, std::optional<Time> until) {
  return {"",
          "",
          until ? Reason::provider_limit : Reason::login_refused,
          provider + " says no",
          until ? "" : "log in again",
          until};
}

/// One flow that wants `dev`, for whom `spare` and then `last` may stand in.
struct Wanted {
  Decision decision;
  std::map<Subject, StageState> stages;
  std::vector<Run> runs;
  PlanSettings settings;

  Wanted() {
    Desired desired;
    desired.role = "dev";
    desired.subject = "1";
    decision.desired.push_back(desired);
    stages["1"].generation = 1;
    settings.usable_roles = {{"dev", "/bin/dev"}, {"spare", "/bin/spare"}, {"last", "/bin/last"}};
    settings.stand_ins["dev"] = {"spare", "last"};
  }

  FlowSituation situation() const { return {kFlow, decision, stages, runs}; }
  FlowPlan plan() const { return flow_plan_of(situation(), settings, at("10:00")); }

  /// A run that has ended.
  Run& ended(const std::string& id, Outcome outcome, std::uint32_t attempt) {
    Run run;
    run.id = id;
    run.key = Key{kFlow, "dev", "1", 1, decision.desired.front().turn};
    run.attempt = attempt;
    run.agent = "dev";
    run.state = RunState::ended;
    run.outcome = outcome;
    run.started = at("09:00");
    run.ended = at("09:10");
    runs.push_back(run);
    return runs.back();
  }
};

TEST_CASE("of agents that all wait the earliest time decides, and each reason is named") {
  struct Row {
    const char* what;
    std::optional<Time> dev;
    std::optional<Time> spare;
    std::optional<Time> last;
    std::optional<Time> until;
    Reason reason;
    const char* action;
  };
  const std::vector<Row> rows = {
      {"the first is the earliest", at("11:00"), at("12:00"), at("13:00"), at("11:00"),
       Reason::provider_limit, ""},
      {"the second", at("14:00"), at("11:00"), at("13:00"), at("11:00"), Reason::provider_limit,
       ""},
      {"the last", at("14:00"), at("13:00"), at("10:30"), at("10:30"), Reason::provider_limit, ""},
      {"a refused login has no end", std::nullopt, std::nullopt, at("12:00"), at("12:00"),
       Reason::provider_limit, "log in again"},
      {"all logins are refused", std::nullopt, std::nullopt, std::nullopt, std::nullopt,
       Reason::login_refused, "log in again"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Wanted wanted;
    wanted.settings.parked = {{"dev", limit_until("anthropic", row.dev)},
                              {"spare", limit_until("openai", row.spare)},
                              {"last", limit_until("google", row.last)}};
    const FlowPlan plan = wanted.plan();
    CHECK(plan.candidates.empty());
    REQUIRE(plan.holds.size() == 1);
    const Hold& hold = plan.holds.front();
    CHECK(hold.cause.reason == row.reason);
    CHECK(hold.until == row.until);
    CHECK(plan.wake == row.until);
    CHECK(plan.waiting == row.until.has_value());
    CHECK(hold.action == row.action);
    for (const char* const provider : {"anthropic", "openai", "google"})
      CHECK(hold.why.find(provider) != std::string::npos);
  }
}

TEST_CASE("agents of one provider name its limit once") {
  Wanted wanted;
  for (const char* const agent : {"dev", "spare", "last"})
    wanted.settings.parked[agent] = limit_until("anthropic", at("11:00"));
  const FlowPlan plan = wanted.plan();
  REQUIRE(plan.holds.size() == 1);
  CHECK(plan.holds.front().why == "anthropic says no");
}

TEST_CASE("a stand-in that is at a cap does not keep the agent itself from starting earlier") {
  struct Row {
    const char* what;
    Time parked;
    Reason reason;
    Time until;
  };
  // The cap is full until a day after the start at 09:00.
  const Time next_day = at("09:00") + std::chrono::hours(24);
  for (const Row& row :
       {Row{"the provider first", at("11:00"), Reason::provider_limit, at("11:00")},
        Row{"the cap first", next_day + std::chrono::hours(9), Reason::cap_reached, next_day}}) {
    CAPTURE(row.what);
    Wanted wanted;
    wanted.settings.parked = {{"dev", limit_until("anthropic", row.parked)}};
    CountedRun before;
    before.id = "run1";
    before.role = "spare";
    before.agent = "spare";
    before.started = at("09:00");
    before.ended = at("09:10");
    Counted counted;
    counted.runs.push_back(before);
    CapSums sums({{{CapScope::agent, "spare"}, {{CapKey::spawns_per_day, 1}}}}, "", counted,
                 at("10:00"));
    Reconciler reconciler;
    reconciler.put(wanted.settings);
    reconciler.put(wanted.situation());
    reconciler.plan(at("10:00"), 0, &sums);
    const Plan& plan = reconciler.made();
    CHECK(plan.starts.empty());
    REQUIRE(plan.holds.at(kFlow).size() == 1);
    const Hold& hold = plan.holds.at(kFlow).front();
    CHECK(hold.cause.reason == row.reason);
    REQUIRE(hold.until);
    CHECK(*hold.until - row.until <= Millis(1));
    CHECK(plan.wake == std::min(row.parked, *hold.until));
    if (row.reason == Reason::provider_limit)
      CHECK(hold.why.find("24 hours") != std::string::npos);
  }
}

/// What follows from runs that have ended, each as a word: done, empty, failed.
std::string after(OnNoChange otherwise, std::uint32_t max_attempts,
                  const std::vector<std::string>& ends) {
  Wanted wanted;
  wanted.settings.on_no_change["dev"] = otherwise;
  wanted.settings.retry = {max_attempts, Millis(0), Millis(0)};
  wanted.settings.role_retry["dev"] = wanted.settings.retry;
  for (const std::string& end : ends) {
    const auto attempt = static_cast<std::uint32_t>(wanted.runs.size() + 1);
    Run& run = wanted.ended("run" + std::to_string(attempt),
                            end == "failed" ? Outcome::failed : Outcome::succeeded, attempt);
    run.error = end == "empty" ? kEmptyAnswer : "";
  }
  const FlowPlan plan = wanted.plan();
  if (!plan.candidates.empty())
    return "attempt " + std::to_string(plan.candidates.front().attempt);
  return plan.holds.empty() ? "" : std::string(word(plan.holds.front().cause.reason));
}

TEST_CASE("what follows when an agent ended well and left the stage") {
  struct Row {
    OnNoChange otherwise;
    std::uint32_t max_attempts;
    std::vector<std::string> ends;
    const char* follows;
  };
  using enum OnNoChange;
  const std::vector<Row> rows = {
      {hold, 3, {"done"}, "no_change"},
      {hold, 3, {"empty"}, "attempt 2"},
      {hold, 3, {"failed", "done"}, "no_change"},
      {hold, 3, {"empty", "empty", "empty"}, "attempts_exhausted"},
      {retry, 3, {"done"}, "attempt 2"},
      {retry, 3, {"done", "empty"}, "attempt 3"},
      {retry, 3, {"done", "empty", "failed"}, "attempts_exhausted"},
      {retry, 2, {"done", "done"}, "attempts_exhausted"},
      {nudge, 3, {"done"}, "attempt 2"},
      {nudge, 3, {"empty"}, "attempt 2"},
      {nudge, 3, {"done", "done"}, "no_change"},
      {nudge, 3, {"done", "empty"}, "no_change"},
      {nudge, 4, {"empty", "empty"}, "no_change"},
      {nudge, 3, {"done", "failed"}, "attempt 3"},
      {nudge, 3, {"done", "failed", "failed"}, "attempts_exhausted"},
      // The nudge is an attempt, too.
      {nudge, 1, {"done"}, "no_change"},
      {nudge, 3, {"failed", "failed", "done"}, "no_change"},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.otherwise));
    CAPTURE(join(row.ends, ","));
    CHECK(after(row.otherwise, row.max_attempts, row.ends) == row.follows);
  }
}

TEST_CASE("attempts that ended well read as failed where they are told") {
  Wanted wanted;
  wanted.settings.on_no_change["dev"] = OnNoChange::retry;
  wanted.settings.role_retry["dev"] = {2, Millis(0), Millis(0)};
  wanted.ended("run1", Outcome::succeeded, 1);
  wanted.ended("run2", Outcome::succeeded, 2).error = kEmptyAnswer;
  const FlowPlan plan = wanted.plan();
  REQUIRE(plan.holds.size() == 1);
  CHECK(plan.holds.front().why ==
        "2 of 2 attempts failed; the last one, run run2, ended as failed (empty_answer): \"its "
        "answer is empty\"");
}

}  // namespace
}  // namespace baton
