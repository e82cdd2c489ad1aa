#pragma once

#include "dialects/agent_run/scene.h"
#include "dialects/agent_run/verdict.h"

namespace baton::agent_run {

/// Brings the record of a run up to what has happened: agents that began or ended, decisions of
/// people, gate failures that send the work back. Changes the scene's record and memo; adds files
/// to be moved, what is to be said, and when to look again to the decision.
void progress(Scene& scene, Decision& decision);

/// A person's word on a waiting step.
void settle(Scene& scene, const Step& step, const Verdict& verdict, Decision& decision);

/// The step is to be started anew: what its last start has left is not this start's.
void again(StepRecord& record);

void fail_for_good(Scene& scene, const Step& step, std::string_view code, const std::string& text,
                   Decision& decision);

/// An attempt has come to nothing: the next one, or the step has failed.
void fail_attempt(Scene& scene, const Step& step, std::string_view code, const std::string& text,
                  Decision& decision);

}  // namespace baton::agent_run
