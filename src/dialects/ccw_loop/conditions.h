// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every state in which a loop can stand, with the condition and the reason that people are told.
// standing.cpp finds the state of a loop. All holds and standings of the dialect use this table.

#include <array>
#include <string_view>

#include "core/condition.h"
#include "dialects/tables.h"

namespace baton::ccw_loop {

enum class Situation {
  created,
  completed,
  paused_by_operator,
  paused_by_agent,
  paused_by_files,
  no_progress,
  debugging_stuck,
  no_tests,
  limit_paused,
  awaiting_choice,
  executor_lives,
  errors,
  limit_failed,
  declared_failed,
  stopped_by_operator,
  stopped_by_agent,
  stopped_by_files,
  exit_by_operator,
  exit_by_agent,
  state_rejected,
  state_gone,
};

using SituationRow = baton::SituationRow<Situation>;
inline constexpr std::array kSituations = {
    SituationRow{Situation::created, {"created", {Condition::idle, Reason::not_started}}},
    SituationRow{Situation::completed, {"completed", {Condition::done, Reason::none}}},
    SituationRow{Situation::paused_by_operator,
                 {"paused_by_operator", {Condition::paused, Reason::by_operator}}},
    SituationRow{Situation::paused_by_agent,
                 {"paused_by_agent", {Condition::paused, Reason::agent}}},
    SituationRow{Situation::paused_by_files,
                 {"paused_by_files", {Condition::paused, Reason::files}}},
    // The next four: baton itself paused the loop, because a person has to look.
    SituationRow{Situation::no_progress, {"no_progress", {Condition::blocked, Reason::no_change}}},
    SituationRow{Situation::debugging_stuck,
                 {"debugging_stuck", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::no_tests, {"no_tests", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::limit_paused,
                 {"limit_paused", {Condition::blocked, Reason::cap_reached}}},
    SituationRow{Situation::awaiting_choice,
                 {"awaiting_choice", {Condition::blocked, Reason::answer_wanted}}},
    // The executor from before a pause still has the loop.
    SituationRow{Situation::executor_lives,
                 {"executor_lives", {Condition::waiting, Reason::claimed}}},
    SituationRow{Situation::errors, {"errors", {Condition::failed, Reason::attempts_exhausted}}},
    SituationRow{Situation::limit_failed, {"limit_failed", {Condition::failed, Reason::max_steps}}},
    // By a validation without tests, or by a reason that another program wrote.
    SituationRow{Situation::declared_failed,
                 {"declared_failed", {Condition::failed, Reason::declared}}},
    SituationRow{Situation::stopped_by_operator,
                 {"stopped_by_operator", {Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::stopped_by_agent,
                 {"stopped_by_agent", {Condition::stopped, Reason::agent}}},
    SituationRow{Situation::stopped_by_files,
                 {"stopped_by_files", {Condition::stopped, Reason::files}}},
    SituationRow{Situation::exit_by_operator,
                 {"exit_by_operator", {Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::exit_by_agent, {"exit_by_agent", {Condition::stopped, Reason::agent}}},
    SituationRow{Situation::state_rejected,
                 {"state_rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::state_gone, {"state_gone", {Condition::gone, Reason::files}}},
};
static_assert(in_enum_order(kSituations, &SituationRow::situation, Situation::state_gone));

/// For Dialect::states.
inline constexpr auto kStates = states_of(kSituations);

constexpr Cause cause_of(Situation situation) {
  return state_of(kStates, situation).cause;
}

}  // namespace baton::ccw_loop
