// SPDX-License-Identifier: Apache-2.0

// Each state of a loop, with what people, scripts and monitors are told of it.

#include <array>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "dialects/dialects.h"
#include "dialects/fsm_loop/conditions.h"

namespace baton::fsm_loop {

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
    Row{S::not_started, "not_started", C::idle, R::not_started, O::fine, O::fine, N::never},
    Row{S::other_program, "other_program", C::idle, R::other_program, O::fine, O::fine, N::never},
    Row{S::owner_dead, "owner_dead", C::blocked, R::interrupted, O::by_until, O::by_until, N::once},
    Row{S::pausing, "pausing", C::waiting, R::back_off, O::goes_on, O::by_until, N::never},
    Row{S::awaiting_continuation, "awaiting_continuation", C::blocked, R::continue_wanted,
        O::by_until, O::by_until, N::once},
    Row{S::completed, "completed", C::done, R::none, O::fine, O::fine, N::once},
    Row{S::failure_terminal, "failure_terminal", C::failed, R::declared, O::failed, O::failed,
        N::once},
    Row{S::error, "error", C::failed, R::loop_error, O::failed, O::failed, N::once},
    Row{S::cycle_detected, "cycle_detected", C::failed, R::loop_error, O::failed, O::failed,
        N::once},
    Row{S::handoff_terminated, "handoff_terminated", C::failed, R::loop_error, O::failed, O::failed,
        N::once},
    Row{S::max_steps, "max_steps", C::failed, R::max_steps, O::failed, O::failed, N::once},
    Row{S::timed_out, "timed_out", C::failed, R::timed_out, O::failed, O::failed, N::once},
    Row{S::last_pass, "last_pass", C::stopped, R::limit, O::failed, O::failed, N::unless_operator},
    Row{S::stopped_by_agent, "stopped_by_agent", C::stopped, R::agent, O::failed, O::failed,
        N::unless_operator},
    Row{S::stopped_by_signal, "stopped_by_signal", C::stopped, R::signal, O::failed, O::failed,
        N::unless_operator},
    Row{S::stopped_by_operator, "stopped_by_operator", C::stopped, R::by_operator, O::failed,
        O::failed, N::unless_operator},
    Row{S::stopped_by_files, "stopped_by_files", C::stopped, R::files, O::failed, O::failed,
        N::unless_operator},
    Row{S::definition_rejected, "definition_rejected", C::blocked, R::file_rejected, O::by_until,
        O::by_until, N::once},
    Row{S::state_rejected, "state_rejected", C::blocked, R::file_rejected, O::by_until, O::by_until,
        N::once},
    Row{S::state_gone, "state_gone", C::gone, R::files, O::failed, O::failed, N::once},
    Row{S::shell_forbidden, "shell_forbidden", C::blocked, R::agent_unusable, O::by_until,
        O::by_until, N::once},
};

}  // namespace

TEST_SUITE("fsm_loop") {
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
    CHECK(fsm_loop_dialect().states.data() == kStates.data());
    CHECK(fsm_loop_dialect().states.size() == kStates.size());
  }
}

}  // namespace baton::fsm_loop
