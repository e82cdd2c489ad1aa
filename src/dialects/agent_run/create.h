#pragma once

#include <vector>

#include "core/dialect.h"

namespace baton::agent_run {

/// `baton start`. Arguments:
///
/// | member | of | means |
/// |---|---|---|
/// | workflow | text | the workflow as it stands in its file; needed for a run that is not there
/// yet | | workflow_path | text | absolute: where it was read | | prompts | step → text | the texts
/// of the prompt files | | max_attempts, max_iterations | count | | | pause_for_human_input | true,
/// false | | | set | name → value | variables for the environment of every agent | | start_at_step
/// | id | this step and those behind it begin anew; the run must be there |
///
/// A run of somebody else is taken over when a workflow is given.
Result<std::vector<Update>> create(const Request& request, const View& view);

}  // namespace baton::agent_run
