// SPDX-License-Identifier: Apache-2.0

// The states of coordination, and what follows from each for people and scripts.

#include <cstddef>
#include <iterator>
#include <string_view>

#include <doctest/doctest.h>

#include "core/condition.h"
#include "dialects/coordination/conditions.h"
#include "dialects/dialects.h"

namespace baton {
namespace {

using coordination::Situation;

struct Row {
  Situation situation;
  std::string_view state;
  Condition condition;
  Reason reason;
  Outlook waited;  ///< `--wait`
  Outlook once;    ///< `run --once`
  Notified notify;
};
constexpr auto kGoesOn = Outlook::goes_on;
constexpr auto kByUntil = Outlook::by_until;
constexpr auto kFine = Outlook::fine;
constexpr auto kNever = Notified::never;
constexpr auto kOnce = Notified::once;

constexpr Row kExpected[] = {
    {Situation::plan_missing, "plan_missing", Condition::blocked, Reason::file_missing, kByUntil,
     kByUntil, kOnce},
    {Situation::plan_rejected, "plan_rejected", Condition::blocked, Reason::file_rejected, kByUntil,
     kByUntil, kOnce},
    {Situation::no_requirements, "no_requirements", Condition::idle, Reason::not_started, kFine,
     kFine, kNever},
    {Situation::rejected, "rejected", Condition::blocked, Reason::file_rejected, kByUntil, kByUntil,
     kOnce},
    {Situation::max_spawns, "max_spawns", Condition::blocked, Reason::cap_reached, kByUntil,
     kByUntil, kOnce},
    {Situation::planning_failed, "planning_failed", Condition::blocked, Reason::answer_wanted,
     kByUntil, kByUntil, kOnce},
    {Situation::bad_plan, "bad_plan", Condition::blocked, Reason::answer_wanted, kByUntil, kByUntil,
     kOnce},
    {Situation::no_completion_word, "no_completion_word", Condition::blocked, Reason::answer_wanted,
     kByUntil, kByUntil, kOnce},
    {Situation::stuck, "stuck", Condition::blocked, Reason::answer_wanted, kByUntil, kByUntil,
     kOnce},
    {Situation::not_planned, "not_planned", Condition::blocked, Reason::answer_wanted, kByUntil,
     kByUntil, kOnce},
    {Situation::planning, "planning", Condition::waiting, Reason::dependency, kGoesOn, kByUntil,
     kNever},
    {Situation::phase_check, "phase_check", Condition::waiting, Reason::dependency, kGoesOn,
     kByUntil, kNever},
    {Situation::phase, "phase", Condition::waiting, Reason::dependency, kGoesOn, kByUntil, kNever},
    {Situation::depends_on, "depends_on", Condition::waiting, Reason::dependency, kGoesOn, kByUntil,
     kNever},
    {Situation::no_slot, "no_slot", Condition::waiting, Reason::free_place, kGoesOn, kByUntil,
     kNever},
    {Situation::not_parallel, "not_parallel", Condition::waiting, Reason::free_place, kGoesOn,
     kByUntil, kNever},
    {Situation::file_claimed, "file_claimed", Condition::waiting, Reason::claimed, kGoesOn,
     kByUntil, kNever},
    {Situation::working, "working", Condition::idle, Reason::nothing_due, kFine, kFine, kNever},
    {Situation::completed, "completed", Condition::done, Reason::none, kFine, kFine, kOnce},
};

}  // namespace

TEST_SUITE("coordination conditions") {
  TEST_CASE("each state has its condition, and each condition its consequences") {
    CHECK(std::size(kExpected) == coordination::kStates.size());
    std::size_t next = 0;
    for (const Row& row : kExpected) {
      CAPTURE(row.state);
      CHECK(static_cast<std::size_t>(row.situation) == next++);
      const Cause cause = coordination::cause_of(row.situation);
      CHECK(cause == Cause{row.condition, row.reason});
      CHECK(fits(cause));
      CHECK(row_of(cause.condition).waited == row.waited);
      CHECK(row_of(cause.condition).once == row.once);
      CHECK(row_of(cause.condition).notify == row.notify);
    }
  }

  TEST_CASE("the dialect names all of its states") {
    const auto states = coordination_dialect().states;
    REQUIRE(states.size() == std::size(kExpected));
    for (std::size_t i = 0; i < states.size(); ++i) {
      CHECK(states[i].state == kExpected[i].state);
      CHECK(states[i].cause == Cause{kExpected[i].condition, kExpected[i].reason});
    }
  }
}

}  // namespace baton
