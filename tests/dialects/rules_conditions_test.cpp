// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string_view>

#include <doctest/doctest.h>

#include "dialects/dialects.h"
#include "dialects/rules/conditions.h"

namespace baton::rules {
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
    Told{Situation::done, C::done, Reason::none, O::fine, O::fine, N::once},
    Told{Situation::nothing_due, C::idle, Reason::nothing_due, O::fine, O::fine, N::never},
    Told{Situation::no_reaction, C::idle, Reason::no_reaction, O::fine, O::fine, N::never},
    Told{Situation::unknown_stage, C::blocked, Reason::unknown_stage, O::by_until, O::by_until,
         N::once},
    Told{Situation::no_stage, C::blocked, Reason::no_stage, O::by_until, O::by_until, N::once},
    Told{Situation::condition_unmet, C::waiting, Reason::condition, O::goes_on, O::by_until,
         N::never},
    Told{Situation::needs_others, C::waiting, Reason::dependency, O::goes_on, O::by_until,
         N::never},
    Told{Situation::unknown_need, C::blocked, Reason::unknown_dependency, O::by_until, O::by_until,
         N::once},
    Told{Situation::approval_wanted, C::blocked, Reason::approval_wanted, O::by_until, O::by_until,
         N::once},
    Told{Situation::rejected_by_person, C::stopped, Reason::by_operator, O::failed, O::failed,
         N::unless_operator},
    Told{Situation::file_rejected, C::blocked, Reason::file_rejected, O::by_until, O::by_until,
         N::once},
    Told{Situation::file_missing, C::blocked, Reason::file_missing, O::by_until, O::by_until,
         N::once},
    Told{Situation::max_entries, C::blocked, Reason::max_entries, O::by_until, O::by_until,
         N::once},
    Told{Situation::max_entries_per, C::waiting, Reason::max_entries, O::goes_on, O::by_until,
         N::never},
    Told{Situation::prompt_unusable, C::blocked, Reason::agent_unusable, O::by_until, O::by_until,
         N::once},
    Told{Situation::paused, C::paused, Reason::by_operator, O::goes_on, O::failed,
         N::unless_operator},
    Told{Situation::stopped, C::stopped, Reason::by_operator, O::failed, O::failed,
         N::unless_operator},
    Told{Situation::existing, C::blocked, Reason::existing, O::by_until, O::by_until, N::once},
    Told{Situation::rule_missing, C::blocked, Reason::unconfigured, O::by_until, O::by_until,
         N::once},
};

}  // namespace

TEST_CASE("each situation of rules has its condition, its reason, and what follows from them") {
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

TEST_CASE("rules gives the table of its situations to the engine") {
  const auto states = rules_dialect().states;
  REQUIRE(states.size() == kStates.size());
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    CHECK(states[i].state == kStates.at(i).state);
    CHECK(states[i].cause == kStates.at(i).cause);
  }
}

}  // namespace baton::rules
