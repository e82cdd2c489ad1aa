// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every state in which a workflow run or one of its steps can stand, with the condition and the
// reason that people are told. All holds and standings of the dialect take their cause from this
// table.

#include <array>

#include "core/condition.h"
#include "dialects/tables.h"

namespace baton::agent_run {

enum class Situation {
  no_run,
  other_program,
  under_way,
  completed,
  cancelled,
  attempts_used_up,
  gate_limit,
  rejected_by_person,
  cost_limit_failed,
  cost_limit,
  approval_wanted,
  needs_steps,
  gate_closed,
  backing_off,
  report_awaited,
  former_agent,
  state_rejected,
  state_gone,
  workflow_gone,
};

using SituationRow = baton::SituationRow<Situation>;
inline constexpr std::array kSituations = {
    // There are files of a run, but no run state.
    SituationRow{Situation::no_run, {"no_run", {Condition::idle, Reason::nothing_due}}},
    SituationRow{Situation::other_program,
                 {"other_program", {Condition::idle, Reason::other_program}}},
    // The run goes on: its holds and its agents say more.
    SituationRow{Situation::under_way, {"under_way", {Condition::idle, Reason::nothing_due}}},
    SituationRow{Situation::completed, {"completed", {Condition::done, Reason::none}}},
    SituationRow{Situation::cancelled, {"cancelled", {Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::attempts_used_up,
                 {"attempts_used_up", {Condition::failed, Reason::attempts_exhausted}}},
    // The gate has failed again after max_iterations loop-backs.
    SituationRow{Situation::gate_limit, {"gate_limit", {Condition::failed, Reason::max_steps}}},
    SituationRow{Situation::rejected_by_person,
                 {"rejected_by_person", {Condition::stopped, Reason::by_operator}}},
    // cost_limit_action is `fail`.
    SituationRow{Situation::cost_limit_failed,
                 {"cost_limit_failed", {Condition::failed, Reason::cap_reached}}},
    SituationRow{Situation::cost_limit, {"cost_limit", {Condition::blocked, Reason::cap_reached}}},
    SituationRow{Situation::approval_wanted,
                 {"approval_wanted", {Condition::blocked, Reason::approval_wanted}}},
    SituationRow{Situation::needs_steps, {"needs_steps", {Condition::waiting, Reason::dependency}}},
    SituationRow{Situation::gate_closed, {"gate_closed", {Condition::waiting, Reason::condition}}},
    SituationRow{Situation::backing_off, {"backing_off", {Condition::waiting, Reason::back_off}}},
    SituationRow{Situation::report_awaited,
                 {"report_awaited", {Condition::waiting, Reason::settling}}},
    // The agent of the step's former start still runs.
    SituationRow{Situation::former_agent, {"former_agent", {Condition::waiting, Reason::claimed}}},
    SituationRow{Situation::state_rejected,
                 {"state_rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::state_gone, {"state_gone", {Condition::gone, Reason::files}}},
    SituationRow{Situation::workflow_gone, {"workflow_gone", {Condition::gone, Reason::files}}},
};
static_assert(in_enum_order(kSituations, &SituationRow::situation, Situation::workflow_gone));

/// For Dialect::states.
inline constexpr auto kStates = states_of(kSituations);

constexpr Cause cause_of(Situation situation) {
  return state_of(kStates, situation).cause;
}

}  // namespace baton::agent_run
