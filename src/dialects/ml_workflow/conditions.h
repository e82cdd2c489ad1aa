// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every state in which a workflow may stand, and what people are told of it.
// Holds and standings take their condition and reason from this table. core/condition.h says what
// follows from them for `--wait`, `run --once` and `notify:`.
// A pause that baton wrote because a person has to look is `blocked`, with its cause. `paused` is a
// pause that somebody else wrote.

#include <array>

#include "core/condition.h"
#include "dialects/tables.h"

namespace baton::ml_workflow {

enum class Situation {
  approval,            ///< a person has to approve
  approval_overdue,    ///< the same, and baton has paused the workflow meanwhile
  approval_decided,    ///< it was decided during that pause, and the pause still stands
  limit_reached,       ///< baton has paused the workflow: too many plans, rounds or steps
  step_failed,         ///< baton has paused the workflow: a step failed again and again
  rejected,            ///< the state file is a rejected version
  paused,              ///< the state file says so, and baton did not write it
  running,             ///< none of the above, and no step is due
  completed,           ///< the end
  failed,              ///< the state file says so, and no person has rejected anything
  cancelled,           ///< the same
  rejected_by_person,  ///< failed or cancelled, because a person rejected the plan or the result
  state_gone,          ///< the state file is not there
};

using SituationRow = baton::SituationRow<Situation>;
inline constexpr std::array kSituations = {
    SituationRow{Situation::approval, {"approval", {Condition::blocked, Reason::approval_wanted}}},
    SituationRow{Situation::approval_overdue,
                 {"approval_overdue", {Condition::blocked, Reason::approval_wanted}}},
    SituationRow{Situation::approval_decided,
                 {"approval_decided", {Condition::blocked, Reason::continue_wanted}}},
    SituationRow{Situation::limit_reached,
                 {"limit_reached", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::step_failed,
                 {"step_failed", {Condition::blocked, Reason::answer_wanted}}},
    SituationRow{Situation::rejected, {"rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::paused, {"paused", {Condition::paused, Reason::files}}},
    SituationRow{Situation::running, {"running", {Condition::idle, Reason::nothing_due}}},
    SituationRow{Situation::completed, {"completed", {Condition::done, Reason::none}}},
    SituationRow{Situation::failed, {"failed", {Condition::failed, Reason::declared}}},
    SituationRow{Situation::cancelled, {"cancelled", {Condition::stopped, Reason::files}}},
    SituationRow{Situation::rejected_by_person,
                 {"rejected_by_person", {Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::state_gone, {"state_gone", {Condition::gone, Reason::files}}},
};
static_assert(in_enum_order(kSituations, &SituationRow::situation, Situation::state_gone));

/// For Dialect::states.
inline constexpr auto kStates = states_of(kSituations);

constexpr Cause cause_of(Situation situation) {
  return state_of(kStates, situation).cause;
}

}  // namespace baton::ml_workflow
