#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/event.h"
#include "workspace/context.h"
#include "workspace/rehearsal.h"

namespace baton {

/// The dialect of a workflow.
inline constexpr std::string_view kWorkflowDialect = "agent_run";

/// What `baton start` was told about a workflow run, as words of the command line.
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

/// Whether the name is that of a workflow file rather than of a flow.
bool names_workflow(const std::string& name);

/// The root a command is meant for that names a repository and no root: the nearest folder with a
/// baton.yaml from the repository upwards, else the repository.
std::string root_of_repository(const std::string& repository);

/// Adds to a request what a workflow run needs to begin or to go on: flow, workflow, prompts,
/// counts. `name` is a workflow file, or a run that is known. With `start_at_step` and no run id it
/// is the newest run of a workflow of that name. Errc::usage; schema when the workflow is not
/// valid, and every fault has been told; not_found, io.
Result<void> add_workflow(const std::string& name, const WorkflowWords& words,
                          const Context& context, const Rehearsal& seen, Request& request);

}  // namespace baton
