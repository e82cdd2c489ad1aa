// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses what a workflow does next, by the decision table of the format page. It looks at the
// snapshot alone; decide.cpp carries the choice out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/ml_workflow/snapshot.h"
#include "dialects/ml_workflow/verdict.h"

namespace baton::ml_workflow {

/// Whether phase_2 has begun but no step of it (the hand-over). A person can still decide about the
/// plan.
bool handed_over(const Snapshot& snapshot);

/// The snapshot for a decision. If a person resumed the workflow, its limits count from now.
/// Nothing without a state file.
std::optional<Snapshot> snapshot_of(const View& view);

/// What comes next.
struct NextStep {
  enum class Kind {
    nothing,   ///< paused, ended, or an agent is working
    work,      ///< start the agents for `works`
    approval,  ///< ask a person about `approval`
    phase_2,   ///< the plan is good and approved
    phase_1,   ///< make another plan although phase_2 has begun
    escalate,  ///< pause the workflow for a person
    end,       ///< the workflow is over: `status`
  };
  Kind kind = Kind::nothing;
  std::vector<Work> works;
  std::string approval;
  std::string status;  ///< for end: `completed`, `failed`, `cancelled`
  std::string limit;   ///< for escalate: `phase_1`, `phase_2`, `steps`, `recovery`
  std::string why;
};
NextStep next_step(const Snapshot& snapshot);
/// What comes next as soon as the status is `running`. Of a workflow that has ended: `end` with a
/// status other than `completed` means that a person has rejected its plan or result.
NextStep next_when_running(const Snapshot& snapshot);
inline bool is_rejection(const NextStep& step) {
  return step.kind == NextStep::Kind::end && step.status != "completed";
}

/// The stage words. `run 2`: the second run of a step, due or running. `run 2.1`: its first
/// repetition after an error. `done 2` and `failed 2` stay until the step is due again.
Stages stages(const View& view);

/// The attempts of a phase: those in convergence_history, and the newest round if it is missing
/// there.
std::int64_t attempts(const Snapshot& snapshot, std::string_view phase);
/// The number of the next or running attempt at the step of which this is the newest entry. After a
/// person has let the step go on, it begins with 1 again.
std::int64_t attempt_at(const Snapshot& snapshot, const Entry* entry);
/// How many attempts the step of an entry has, until baton asks a person. 0: its error does not
/// say.
std::int64_t attempts_max(const Entry& entry);
/// How an entry failed, for people: "critical_error: no such project". Without the type if baton
/// itself has given it because the agent ended.
std::string failure_text(const Entry& entry);
/// Whether the newest complete round of a phase is missing in convergence_history.
bool round_to_record(const Snapshot& snapshot, std::string_view phase);
/// Index in step_history where the newest complete round of a phase ends; -1: there is none.
std::int64_t round_end(const Snapshot& snapshot, bool plan);

/// The decision about the newest validation: `approved`, `rejected`, `changes_requested`, or empty.
std::string decided(const Snapshot& snapshot, std::string_view approval);
/// Which decisions count for the newest validation of a phase.
ValidationMark validation_mark(const Snapshot& snapshot, std::string_view approval);

/// The key in Memo::base for a failed entry. It is there from the moment when a person lets the
/// workflow go on until baton repeats the step.
std::string helped(const Entry& entry);

/// The next recovery strategy for a failed entry; empty: ask a person first.
std::string next_strategy(const Snapshot& snapshot, const Entry& entry);

}  // namespace baton::ml_workflow
