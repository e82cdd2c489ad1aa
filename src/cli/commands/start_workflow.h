// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the options of `baton start` for a workflow into a request. The workflow and its prompts
// are read and checked here, with the user's files and folder, and travel in the request. The first
// files of the run are the matter of the dialect agent_run.

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/event.h"
#include "workspace/context.h"
#include "workspace/rehearsal.h"

namespace baton {

/// The dialect of a workflow.
inline constexpr std::string_view kWorkflowDialect = "agent_run";

/// The options of `baton start` for a workflow run.
struct WorkflowWords {
  std::string repo;
  std::string run_id;
  std::string start_at_step;
  std::string max_attempts;
  std::string max_iterations;
  std::string gate_state_file;
  std::string logs_dir;
  std::string issue_number;
  bool pause_for_human_input = false;
  bool any() const {
    return !repo.empty() || !run_id.empty() || !start_at_step.empty() || !max_attempts.empty() ||
           !max_iterations.empty() || !gate_state_file.empty() || !logs_dir.empty() ||
           !issue_number.empty() || pause_for_human_input;
  }
};

/// Whether the name is a workflow file, not a flow.
bool names_workflow(const std::string& name);

/// The root for a repository when no root is given: the nearest folder upwards with a baton.yaml,
/// else the repository.
std::string root_of_repository(const std::string& repository);

/// Adds to the request what a workflow run needs: flow, workflow, prompts, counts. `name` is a
/// workflow file or a known run. With `start_at_step` and no run id, the newest run of the workflow
/// of that name continues. Errc::usage, not_found, io; schema when the workflow is not valid, after
/// all faults were printed.
Result<void> add_workflow(const std::string& name, const WorkflowWords& words,
                          const Context& context, const Rehearsal& seen, Request& request);

}  // namespace baton
