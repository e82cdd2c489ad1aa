#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/ml_workflow/snapshot.h"
#include "dialects/ml_workflow/verdict.h"

namespace baton::ml_workflow {

/// In phase_2, and no code was begun: the plan that was handed over can be decided about still.
bool handed_over(const Scene& scene);

/// The scene to decide in: what a person has let go on counts anew. Nothing without a state file.
std::optional<Scene> scene_of(const View& view);

/// What comes next by the decision table of the format page: one of these.
struct Next {
  enum class Kind {
    nothing,   ///< paused, ended, or somebody is at work
    work,      ///< `works` are to be started
    approval,  ///< a person is asked about `approval`
    phase_2,   ///< the plan is good and approved
    phase_1,   ///< it was handed over, and another one is asked for
    escalate,  ///< baton pauses the workflow: a person has to look
    completed,
    failed,
    cancelled,
  };
  Kind kind = Kind::nothing;
  std::vector<Work> works;
  std::string approval;
  std::string limit;  ///< of escalate: `phase_1`, `phase_2`, `steps`, `recovery`
  std::string why;
};
Next next(const Scene& scene);

/// The stage words: `run 2` is the second run of a piece of work, due or at work; `run 2.1` its
/// first repetition after an error; `done 2` and `failed 2` stay until it is due again.
Stages stages(const View& view);

/// The attempts of a phase, the newest round included.
std::int64_t attempts(const Scene& scene, std::string_view phase);
/// The newest complete round of a phase that convergence_history does not have yet.
bool round_to_record(const Scene& scene, std::string_view phase);
/// Where in step_history the newest complete round of a phase ends; -1: there is none.
std::int64_t round_end(const Scene& scene, bool plan);

/// What was decided about the newest validation: `approved`, `rejected`, `changes_requested`, or
/// nothing yet.
std::string decided(const Scene& scene, std::string_view approval);
/// From where on decisions count.
Judged judged(const Scene& scene, std::string_view approval);

/// The name in Memo::base of that a person has helped a failed entry, which was not begun since.
std::string helped(const Entry& entry);

/// What is tried next for a failed entry; empty: a person is asked first.
std::string next_strategy(const Scene& scene, const Entry& entry);

}  // namespace baton::ml_workflow
