// SPDX-License-Identifier: Apache-2.0
#include "core/provider_limits.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace baton {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const ProviderAccount kSonnet{"anthropic", "a", "sonnet"};
const ProviderAccount kAll{"anthropic", "a", ""};
constexpr Millis kMostExtra = seconds(90);

Time at(const std::string& time) {
  return *parse_time("2026-01-22T" + time + ":00Z");
}

Run run_of(const std::string& id, Time started, Time ended) {
  Run run;
  run.id = id;
  run.started = started;
  run.ended = ended;
  return run;
}

/// A further limit: met by a run that was started after the one before was over.
Parked next(const Parked& before, std::optional<Millis> named = std::nullopt) {
  const Time ended = *before.until + minutes(1);
  const Run run = run_of("run" + std::to_string(before.times + 1), *before.until, ended);
  return parked_by_limit(before, before.whose, named ? std::optional(ended + *named) : std::nullopt,
                         run, "again");
}

/// The wait without the part that is different for each run.
bool is_wait(const Parked& row, Time from, Millis wait) {
  const Millis extra = *row.until - from - wait;
  return extra >= Millis(0) && extra <= std::min(wait / 10, kMostExtra);
}

TEST_CASE("a limit without a time is probed after 15 minutes, then twice as late, up to 5 hours") {
  Parked row = parked_by_limit({}, kAll, {}, run_of("run1", at("09:00"), at("10:00")), "full");
  CHECK(row.times == 1);
  CHECK(row.why == "full");
  CHECK(is_wait(row, at("10:00"), minutes(15)));
  for (const int wait : {30, 60, 120, 240, 300, 300, 300}) {
    CAPTURE(wait);
    const Time from = *row.until + minutes(1);
    row = next(row);
    CHECK(row.since == from);
    CHECK(is_wait(row, from, minutes(wait)));
  }
}

TEST_CASE("from the third limit in a row on, the time that the program names is not enough") {
  Parked row =
      parked_by_limit({}, kAll, at("10:05"), run_of("run1", at("09:00"), at("10:00")), "full");
  CHECK(is_wait(row, at("10:00"), minutes(5)));
  row = next(row, minutes(1));
  CHECK(row.times == 2);
  for (const int wait : {15, 30, 60}) {
    CAPTURE(wait);
    const Time from = *row.until + minutes(1);
    row = next(row, minutes(1));
    CHECK(is_wait(row, from, minutes(wait)));
  }
  const Time from = *row.until + minutes(1);
  row = next(row, hours(20));
  CHECK(is_wait(row, from, hours(20)));
}

TEST_CASE("a time in the past, or now, does not make the wait negative") {
  for (const std::string time : {"08:00", "09:59", "10:00"}) {
    CAPTURE(time);
    const Parked row =
        parked_by_limit({}, kAll, at(time), run_of("run1", at("09:00"), at("10:00")), "");
    CHECK(*row.until == at("10:00"));
    CHECK(!holds(row, kAll, at("10:00")));
  }
}

TEST_CASE("the wait differs from run to run, by a tenth, at most by 90 seconds") {
  std::vector<Time> untils;
  for (const std::string id : {"a1", "b2", "c3", "d4", "e5", "f6"})
    untils.push_back(
        *parked_by_limit({}, kAll, at("16:00"), run_of(id, at("09:00"), at("10:00")), "").until);
  for (const Time until : untils) {
    CHECK(until >= at("16:00"));
    CHECK(until <= at("16:00") + kMostExtra);
  }
  CHECK(std::any_of(untils.begin(), untils.end(), [&](Time each) { return each != untils[0]; }));
  const Parked soon = parked_by_limit({}, kAll, at("10:00") + seconds(50),
                                      run_of("a1", at("09:00"), at("10:00")), "");
  CHECK(*soon.until <= at("10:00") + seconds(55));
}

TEST_CASE("agents that meet a limit at the same time meet one limit, and the later time counts") {
  const Parked first =
      parked_by_limit({}, kAll, at("12:00"), run_of("run1", at("09:00"), at("10:00")), "first");
  struct Row {
    const char* what;
    std::optional<Time> named;
    bool later;
  };
  for (const Row& row : {Row{"no time", std::nullopt, false}, Row{"earlier", at("10:30"), false},
                         Row{"later", at("14:00"), true}}) {
    CAPTURE(row.what);
    const Run other = run_of("run2", at("09:30"), at("10:01"));
    CHECK(is_same_limit(first, other));
    CHECK(!is_told_by(first, other));
    const Parked both = parked_by_limit(first, kAll, row.named, other, "second");
    CHECK(both.times == 1);
    CHECK(both.run == "run1");
    CHECK(both.since == first.since);
    CHECK((both.until > first.until) == row.later);
    CHECK((both == first) == !row.later);
  }
}

TEST_CASE("of one limit the named time counts, whichever run names it") {
  const Run first = run_of("run1", at("12:00"), at("12:10"));
  const Run second = run_of("run2", at("12:00"), at("12:11"));
  const auto named = parked_by_limit(std::nullopt, kAll, at("12:12"), first, "limit");
  CHECK(parked_by_limit(named, kAll, std::nullopt, second, "limit") == named);
  const auto unnamed = parked_by_limit(std::nullopt, kAll, std::nullopt, first, "limit");
  CHECK(*parked_by_limit(unnamed, kAll, at("17:00"), second, "limit").until >= at("17:00"));
  CHECK(*parked_by_limit(named, kAll, at("17:00"), second, "limit").until >= at("17:00"));
}

TEST_CASE("an end that is judged again changes nothing, and tells it again") {
  for (const bool named : {true, false}) {
    const Run run = run_of("run1", at("09:00"), at("10:00"));
    const auto until = named ? std::optional(at("12:00")) : std::nullopt;
    const Parked once = parked_by_limit({}, kAll, until, run, "full");
    CHECK(is_told_by({}, run));
    CHECK(is_told_by(once, run));
    CHECK(parked_by_limit(once, kAll, until, run, "full") == once);
    // Another run of the same limit was entered meanwhile.
    const Run other = run_of("run2", at("09:00"), at("10:00"));
    const Parked both = parked_by_limit(once, kAll, until, other, "full");
    CHECK(is_told_by(both, run));
    CHECK(!is_told_by(both, other));
    CHECK(parked_by_limit(both, kAll, until, run, "full") == both);
  }
  // Even if the time that it names is over at once.
  const Run run = run_of("run1", at("09:00"), at("10:00"));
  const Parked past = parked_by_limit({}, kAll, at("09:00"), run, "");
  CHECK(parked_by_limit(past, kAll, at("09:00"), run, "") == past);
}

TEST_CASE("a refused login stands until somebody acts, and is told once") {
  const Run run = run_of("run1", at("09:00"), at("10:00"));
  const Parked row = parked_by_login({}, kAll, run, "log in");
  CHECK(row.login);
  CHECK(!row.until);
  CHECK(holds(row, kSonnet, at("10:00") + hours(10'000)));
  const Run other = run_of("run2", at("09:00"), at("11:00"));
  CHECK(parked_by_login(row, kAll, other, "log in") == row);
  CHECK(is_told_by(row, run));
  CHECK(!is_told_by(row, other));
  // Somebody has logged in again, and is refused again: later changes count from now on.
  const Run again = run_of("run4", at("12:00"), at("12:01"));
  const Parked anew = parked_by_login(row, kAll, again, "log in");
  CHECK(anew.since == at("12:01"));
  CHECK(anew.times == 2);
  CHECK(is_told_by(row, again));
  CHECK(parked_by_login(anew, kAll, again, "log in") == anew);
}

TEST_CASE("a success of a run that was started after the refusal ends a refused login") {
  const Parked row = parked_by_login({}, kAll, run_of("run1", at("09:00"), at("10:00")), "log in");
  CHECK(!is_over_for(row, kSonnet, run_of("run2", at("09:30"), at("10:30"))));
  CHECK(is_over_for(row, kSonnet, run_of("run3", at("10:00"), at("13:00"))));
  CHECK(!is_over_for(row, {"openai", "a", ""}, run_of("run4", at("12:00"), at("13:00"))));
}

TEST_CASE("a missing credit is told as such: another login would not help") {
  Run run = run_of("run1", at("09:00"), at("10:00"));
  run.reason = "credit";
  const Hold hold = hold_of(parked_by_login({}, kAll, run, "balance is too low"), "dev");
  CHECK(hold.cause.reason == Reason::login_refused);
  CHECK(hold.why.find("no credit") != std::string::npos);
  CHECK(hold.action == "pay at anthropic, then `baton resume --agent dev`");
}

TEST_CASE("a hold says why baton waits longer than the program says") {
  const Run run = run_of("run1", at("09:00"), at("10:00"));
  const auto why = [](const Parked& row) { return hold_of(row, "dev").why; };
  CHECK(why(parked_by_limit({}, kAll, {}, run, "")).find("no time that baton believes") !=
        std::string::npos);
  Parked row = parked_by_limit({}, kAll, at("12:00"), run, "");
  CHECK(why(row).ends_with("tried again at " + iso_time(*row.until)));
  row = next(row, seconds(1));
  CHECK(why(row).ends_with("tried again at " + iso_time(*row.until)));
  row = next(row, seconds(1));
  CHECK(why(row).ends_with("(limit 3 in a row, so baton waits longer)"));
  row = next(row, hours(4));
  CHECK(why(row).ends_with("tried again at " + iso_time(*row.until)));
}

TEST_CASE("whom a limit holds") {
  struct Row {
    const char* what;
    ProviderAccount limited;
    ProviderAccount agent;
    bool held;
  };
  const std::vector<Row> rows = {
      {"all models", kAll, kSonnet, true},
      {"its model", kSonnet, kSonnet, true},
      {"another model", kSonnet, {"anthropic", "a", "opus"}, false},
      {"the program's own choice of the model", kSonnet, kAll, false},
      {"another account", kAll, {"anthropic", "b", "sonnet"}, false},
      {"another provider", kAll, {"openai", "a", "sonnet"}, false},
      {"no account is known", {"anthropic", "", ""}, kSonnet, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const Parked parked =
        parked_by_limit({}, row.limited, at("12:00"), run_of("run1", at("09:00"), at("10:00")), "");
    CHECK(holds(parked, row.agent, at("11:00")) == row.held);
    CHECK(!holds(parked, row.agent, *parked.until));
    CHECK(is_over_for(parked, row.agent, run_of("run2", *parked.until, at("13:00"))) == row.held);
  }
}

TEST_CASE("only a run that was started after a limit was over ends the row by its success") {
  const Parked row =
      parked_by_limit({}, kAll, at("12:00"), run_of("run1", at("09:00"), at("10:00")), "");
  CHECK(!is_over_for(row, kSonnet, run_of("run2", at("09:00"), at("10:30"))));
  CHECK(!is_over_for(row, kSonnet, run_of("run2", at("09:00"), at("13:00"))));
  CHECK(is_over_for(row, kSonnet, run_of("run2", *row.until, at("13:00"))));
}

}  // namespace
}  // namespace baton
