// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every state in which a session or a group may stand, and what people are told of it.
// Holds and standings take their condition and reason from this table. core/condition.h says what
// follows from them for `--wait`, `run --once` and `notify:`.

#include <array>

#include "core/condition.h"
#include "dialects/tables.h"

namespace baton::coordination {

enum class Situation {
  plan_missing,        ///< no pm_state
  plan_rejected,       ///< the first pm_state is not valid
  no_requirements,     ///< nobody has said what to do
  rejected,            ///< group_status or orchestrator_state is a rejected version
  max_spawns,          ///< the session has started as many agents as it may
  planning_failed,     ///< the project manager made no plan
  bad_plan,            ///< the newest plan is still rejected
  no_completion_word,  ///< all planned groups are complete, and the session has not ended
  stuck,               ///< the project manager could not help a group
  not_planned,         ///< a group is no longer in the plan
  planning,            ///< the project manager works on the plan
  phase_check,         ///< the project manager looks at a finished phase
  phase,               ///< an earlier phase is not complete
  depends_on,          ///< another group comes first
  no_slot,             ///< enough developers work
  not_parallel,        ///< a group that must be alone
  file_claimed,        ///< another group works on the same file
  working,             ///< none of the above, and no agent is due
  completed,           ///< the end
};

using SituationRow = baton::SituationRow<Situation>;
inline constexpr std::array kSituations = {
    SituationRow{Situation::plan_missing,
                 {"plan_missing", {Condition::blocked, Reason::file_missing}}},
    SituationRow{Situation::plan_rejected,
                 {"plan_rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::no_requirements,
                 {"no_requirements", {Condition::idle, Reason::not_started}}},
    SituationRow{Situation::rejected, {"rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::max_spawns, {"max_spawns", {Condition::blocked, Reason::cap_reached}}},
    SituationRow{Situation::planning_failed,
                 {"planning_failed", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::bad_plan, {"bad_plan", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::no_completion_word,
                 {"no_completion_word", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::stuck, {"stuck", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::not_planned,
                 {"not_planned", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::planning, {"planning", {Condition::waiting, Reason::dependency}}},
    SituationRow{Situation::phase_check, {"phase_check", {Condition::waiting, Reason::dependency}}},
    SituationRow{Situation::phase, {"phase", {Condition::waiting, Reason::dependency}}},
    SituationRow{Situation::depends_on, {"depends_on", {Condition::waiting, Reason::dependency}}},
    SituationRow{Situation::no_slot, {"no_slot", {Condition::waiting, Reason::free_place}}},
    SituationRow{Situation::not_parallel,
                 {"not_parallel", {Condition::waiting, Reason::free_place}}},
    SituationRow{Situation::file_claimed, {"file_claimed", {Condition::waiting, Reason::claimed}}},
    SituationRow{Situation::working, {"working", {Condition::idle, Reason::nothing_due}}},
    SituationRow{Situation::completed, {"completed", {Condition::done, Reason::none}}},
};
static_assert(in_enum_order(kSituations, &SituationRow::situation, Situation::completed));

/// For Dialect::states.
inline constexpr auto kStates = states_of(kSituations);

constexpr Cause cause_of(Situation situation) {
  return state_of(kStates, situation).cause;
}

}  // namespace baton::coordination
