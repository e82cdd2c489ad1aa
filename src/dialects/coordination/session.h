#pragma once

#include <string>
#include <vector>

#include "dialects/coordination/scene.h"
#include "dialects/coordination/writes.h"

namespace baton::coordination {

/// Where the session as a whole stands; the stage words of `*session`.
///
/// | stage           | until                                                              |
/// |-----------------|--------------------------------------------------------------------|
/// | no_requirements | somebody asks for something                                        |
/// | planning        | the project manager has chosen a mode and made groups              |
/// | working         | every group is complete                                            |
/// | phase_check     | (phase_advance: pm) the project manager has looked at the phase    |
/// | final_check     | the project manager says the word, or makes more groups            |
/// | completed       | the end                                                            |
enum class Standing {
  none,
  no_requirements,
  planning,
  working,
  phase_check,
  final_check,
  completed
};
std::string_view word(Standing standing);

Standing standing(const Scene& scene);

/// `signal` or `status` of pm_state says that all is done.
bool plan_says_completed(const Value& pm, const Options& options);
/// The project manager, or somebody in its place, says that all is done.
bool completion_claimed(const Scene& scene);
/// What has completed the session is used up once there is more to do: it is not taken for a claim
/// that came too early, and a final check has to follow.
void note_end(Scene& scene, Standing standing);
/// Looks for the completion word in the output of the project manager's runs: remembers it when it
/// holds, and refuses it for good when it came too early. One that was written and remembered does
/// not count any more when there is more to do by now.
void note_word(Scene& scene, Decision& decision);
/// Why it is not; empty when it is: groups that are not complete, not reviewed.
std::vector<std::string> completion_faults(const Scene& scene);

/// What the session as a whole wants: the project manager, and reasons to wait.
void route_session(Scene& scene, Standing standing, Decision& decision);

/// The newest plan was rejected for its groups (S1, S2, S24); "" when it was not. The findings.
std::string bad_plan(const Scene& scene);

}  // namespace baton::coordination
