#pragma once

#include <string>
#include <vector>

#include "core/dialect.h"

namespace baton::agent_run {

/// `baton start`. Arguments:
///
/// - workflow: the workflow's text as it stands in its file; needed for a run that is not there yet
/// - workflow_path: absolute, where it was read
/// - prompts: the texts of the prompt files, by step
/// - max_attempts, max_iterations: counts
/// - pause_for_human_input: true or false
/// - gate_state_file, logs_dir: paths below the root
/// - set: variables for the environment of every agent, by name
/// - start_at_step: this step and those behind it begin anew; the run must be there
///
/// A run of somebody else is taken over when a workflow is given.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// How that is done, for people.
std::string taking_over(const View& view);

}  // namespace baton::agent_run
