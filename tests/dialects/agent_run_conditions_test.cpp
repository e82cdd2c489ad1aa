// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string_view>

#include <doctest/doctest.h>

#include "dialects/agent_run/conditions.h"
#include "dialects/dialects.h"

namespace baton::agent_run {
namespace {

using C = baton::Condition;
using O = baton::Outlook;
using N = baton::Notified;

/// What people, scripts and monitors are told of one situation.
struct Told {
  Situation situation;
  C condition;
  Reason reason;
  O waited;
  O once;
  N notified;
};

constexpr std::array kTold = {
    Told{Situation::no_run, C::idle, Reason::nothing_due, O::fine, O::fine, N::never},
    Told{Situation::other_program, C::idle, Reason::other_program, O::fine, O::fine, N::never},
    Told{Situation::under_way, C::idle, Reason::nothing_due, O::fine, O::fine, N::never},
    Told{Situation::completed, C::done, Reason::none, O::fine, O::fine, N::once},
    Told{Situation::cancelled, C::stopped, Reason::by_operator, O::failed, O::failed,
         N::unless_operator},
    Told{Situation::attempts_used_up, C::failed, Reason::attempts_exhausted, O::failed, O::failed,
         N::once},
    Told{Situation::gate_limit, C::failed, Reason::max_steps, O::failed, O::failed, N::once},
    Told{Situation::rejected_by_person, C::stopped, Reason::by_operator, O::failed, O::failed,
         N::unless_operator},
    Told{Situation::cost_limit_failed, C::failed, Reason::cap_reached, O::failed, O::failed,
         N::once},
    Told{Situation::cost_limit, C::blocked, Reason::cap_reached, O::by_until, O::by_until, N::once},
    Told{Situation::approval_wanted, C::blocked, Reason::approval_wanted, O::by_until, O::by_until,
         N::once},
    Told{Situation::needs_steps, C::waiting, Reason::dependency, O::goes_on, O::by_until, N::never},
    Told{Situation::gate_closed, C::waiting, Reason::condition, O::goes_on, O::by_until, N::never},
    Told{Situation::backing_off, C::waiting, Reason::back_off, O::goes_on, O::by_until, N::never},
    Told{Situation::report_awaited, C::waiting, Reason::settling, O::goes_on, O::by_until,
         N::never},
    Told{Situation::former_agent, C::waiting, Reason::claimed, O::goes_on, O::by_until, N::never},
    Told{Situation::state_rejected, C::blocked, Reason::file_rejected, O::by_until, O::by_until,
         N::once},
    Told{Situation::state_gone, C::gone, Reason::files, O::failed, O::failed, N::once},
    Told{Situation::workflow_gone, C::gone, Reason::files, O::failed, O::failed, N::once},
};

}  // namespace

TEST_CASE("each situation of agent_run has its condition, its reason, and what follows from them") {
  REQUIRE(kTold.size() == kSituations.size());
  for (std::size_t i = 0; i < kTold.size(); ++i) {
    const Told& told = kTold.at(i);
    const Cause cause = cause_of(told.situation);
    CAPTURE(kStates.at(i).state);
    CHECK(static_cast<std::size_t>(told.situation) == i);
    CHECK(cause == Cause{told.condition, told.reason});
    CHECK(kStates.at(i).cause == cause);
    CHECK(row_of(cause.condition).waited == told.waited);
    CHECK(row_of(cause.condition).once == told.once);
    CHECK(row_of(cause.condition).notify == told.notified);
    CHECK(fits(cause));
  }
}

TEST_CASE("agent_run gives the table of its situations to the engine") {
  const auto states = agent_run_dialect().states;
  REQUIRE(states.size() == kStates.size());
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    CHECK(states[i].state == kStates.at(i).state);
    CHECK(states[i].cause == kStates.at(i).cause);
  }
}

}  // namespace baton::agent_run
