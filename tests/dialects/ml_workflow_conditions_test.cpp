// SPDX-License-Identifier: Apache-2.0

// The states of ml_workflow, and what follows from each for people and scripts.

#include <cstddef>
#include <iterator>
#include <string_view>

#include <doctest/doctest.h>

#include "core/condition.h"
#include "dialects/dialects.h"
#include "dialects/ml_workflow/conditions.h"

namespace baton {
namespace {

using ml_workflow::Situation;

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
constexpr auto kFailed = Outlook::failed;
constexpr auto kNever = Notified::never;
constexpr auto kOnce = Notified::once;
constexpr auto kUnlessOperator = Notified::unless_operator;

constexpr Row kExpected[] = {
    {Situation::approval, "approval", Condition::blocked, Reason::approval_wanted, kByUntil,
     kByUntil, kOnce},
    {Situation::approval_overdue, "approval_overdue", Condition::blocked, Reason::approval_wanted,
     kByUntil, kByUntil, kOnce},
    {Situation::approval_decided, "approval_decided", Condition::blocked, Reason::continue_wanted,
     kByUntil, kByUntil, kOnce},
    {Situation::limit_reached, "limit_reached", Condition::blocked, Reason::answer_wanted, kByUntil,
     kByUntil, kOnce},
    {Situation::step_failed, "step_failed", Condition::blocked, Reason::answer_wanted, kByUntil,
     kByUntil, kOnce},
    {Situation::rejected, "rejected", Condition::blocked, Reason::file_rejected, kByUntil, kByUntil,
     kOnce},
    {Situation::paused, "paused", Condition::paused, Reason::files, kGoesOn, kFailed,
     kUnlessOperator},
    {Situation::running, "running", Condition::idle, Reason::nothing_due, kFine, kFine, kNever},
    {Situation::completed, "completed", Condition::done, Reason::none, kFine, kFine, kOnce},
    {Situation::failed, "failed", Condition::failed, Reason::declared, kFailed, kFailed, kOnce},
    {Situation::cancelled, "cancelled", Condition::stopped, Reason::files, kFailed, kFailed,
     kUnlessOperator},
    {Situation::rejected_by_person, "rejected_by_person", Condition::stopped, Reason::by_operator,
     kFailed, kFailed, kUnlessOperator},
    {Situation::state_gone, "state_gone", Condition::gone, Reason::files, kFailed, kFailed, kOnce},
};

}  // namespace

TEST_SUITE("ml_workflow conditions") {
  TEST_CASE("each state has its condition, and each condition its consequences") {
    CHECK(std::size(kExpected) == ml_workflow::kStates.size());
    std::size_t next = 0;
    for (const Row& row : kExpected) {
      CAPTURE(row.state);
      CHECK(static_cast<std::size_t>(row.situation) == next++);
      const Cause cause = ml_workflow::cause_of(row.situation);
      CHECK(cause == Cause{row.condition, row.reason});
      CHECK(fits(cause));
      CHECK(row_of(cause.condition).waited == row.waited);
      CHECK(row_of(cause.condition).once == row.once);
      CHECK(row_of(cause.condition).notify == row.notify);
    }
  }

  TEST_CASE("the dialect names all of its states") {
    const auto states = ml_workflow_dialect().states;
    REQUIRE(states.size() == std::size(kExpected));
    for (std::size_t i = 0; i < states.size(); ++i) {
      CHECK(states[i].state == kExpected[i].state);
      CHECK(states[i].cause == Cause{kExpected[i].condition, kExpected[i].reason});
    }
  }
}

}  // namespace baton
