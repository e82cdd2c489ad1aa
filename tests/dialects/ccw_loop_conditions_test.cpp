// SPDX-License-Identifier: Apache-2.0

// Each state of a loop, with what people, scripts and monitors are told of it.

#include <array>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "dialects/ccw_loop/conditions.h"
#include "dialects/dialects.h"

namespace baton::ccw_loop {

namespace {

using S = Situation;
using C = Condition;
using R = Reason;
using O = Outlook;
using N = Notified;

struct Row {
  Situation situation;
  std::string_view state;
  Condition condition;
  Reason reason;
  Outlook waited;
  Outlook once;
  Notified notify;
};

constexpr std::array kExpected = {
    Row{S::created, "created", C::idle, R::not_started, O::fine, O::fine, N::never},
    Row{S::completed, "completed", C::done, R::none, O::fine, O::fine, N::once},
    Row{S::paused_by_operator, "paused_by_operator", C::paused, R::by_operator, O::goes_on,
        O::failed, N::unless_operator},
    Row{S::paused_by_agent, "paused_by_agent", C::paused, R::agent, O::goes_on, O::failed,
        N::unless_operator},
    Row{S::paused_by_files, "paused_by_files", C::paused, R::files, O::goes_on, O::failed,
        N::unless_operator},
    Row{S::no_progress, "no_progress", C::blocked, R::no_change, O::by_until, O::by_until, N::once},
    Row{S::debugging_stuck, "debugging_stuck", C::blocked, R::answer_wanted, O::by_until,
        O::by_until, N::once},
    Row{S::no_tests, "no_tests", C::blocked, R::answer_wanted, O::by_until, O::by_until, N::once},
    Row{S::limit_paused, "limit_paused", C::blocked, R::cap_reached, O::by_until, O::by_until,
        N::once},
    Row{S::awaiting_choice, "awaiting_choice", C::blocked, R::answer_wanted, O::by_until,
        O::by_until, N::once},
    Row{S::executor_lives, "executor_lives", C::waiting, R::claimed, O::goes_on, O::by_until,
        N::never},
    Row{S::errors, "errors", C::failed, R::attempts_exhausted, O::failed, O::failed, N::once},
    Row{S::limit_failed, "limit_failed", C::failed, R::max_steps, O::failed, O::failed, N::once},
    Row{S::declared_failed, "declared_failed", C::failed, R::declared, O::failed, O::failed,
        N::once},
    Row{S::stopped_by_operator, "stopped_by_operator", C::stopped, R::by_operator, O::failed,
        O::failed, N::unless_operator},
    Row{S::stopped_by_agent, "stopped_by_agent", C::stopped, R::agent, O::failed, O::failed,
        N::unless_operator},
    Row{S::stopped_by_files, "stopped_by_files", C::stopped, R::files, O::failed, O::failed,
        N::unless_operator},
    Row{S::exit_by_operator, "exit_by_operator", C::stopped, R::by_operator, O::failed, O::failed,
        N::unless_operator},
    Row{S::exit_by_agent, "exit_by_agent", C::stopped, R::agent, O::failed, O::failed,
        N::unless_operator},
    Row{S::state_rejected, "state_rejected", C::blocked, R::file_rejected, O::by_until, O::by_until,
        N::once},
    Row{S::state_gone, "state_gone", C::gone, R::files, O::failed, O::failed, N::once},
};

}  // namespace

TEST_SUITE("ccw_loop") {
  TEST_CASE("every state of a loop has its condition") {
    REQUIRE(kExpected.size() == kStates.size());
    std::set<std::string_view> states;
    for (const Row& row : kExpected) {
      CAPTURE(row.state);
      const StateRow& told = kStates.at(static_cast<std::size_t>(row.situation));
      CHECK(told.state == row.state);
      CHECK(states.insert(told.state).second);
      const Cause cause = cause_of(row.situation);
      CHECK(cause == Cause{row.condition, row.reason});
      CHECK(told.cause == cause);
      CHECK(fits(cause));
      const ConditionRow& condition = row_of(cause.condition);
      CHECK(condition.waited == row.waited);
      CHECK(condition.once == row.once);
      CHECK(condition.notify == row.notify);
    }
  }

  TEST_CASE("the dialect gives its states") {
    CHECK(ccw_loop_dialect().states.data() == kStates.data());
    CHECK(ccw_loop_dialect().states.size() == kStates.size());
  }
}

}  // namespace baton::ccw_loop
