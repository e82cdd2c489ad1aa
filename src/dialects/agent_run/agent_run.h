#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "core/dialect.h"

namespace baton {

/// Workflow runs below `.agents/runs`: steps with reports, gates, loop-backs and human input.
/// Format and rules: schemas/agent_run/README.md.
const Dialect& agent_run_dialect();

}  // namespace baton

namespace baton::agent_run {

/// What the name of a run's file says; empty where it does not fit the kind's pattern.
struct Place {
  std::string run;
  std::string step;
  std::string runs = {};  ///< the folder of the runs, relative to the root
};

/// The kinds of files below `path` of the options (`.agents/runs`). Workflows, gate states and
/// lists of items lie wherever a run says; their patterns are the places of a copy within the run.
std::vector<FileKind> files(const Json& options);

/// `path` of the options, without a `/` at its end.
std::string runs_folder(const Json& options);

/// What the file's name says of its run and step.
Place place_of(const Json& options, std::string_view kind, std::string_view path);

/// The rules of one document that no schema can state; the list is on the format page. Each
/// expects a document that its schema accepts.
Findings check_workflow(const Value& root);
Findings check_run_state(const Value& root, const Place& place);
Findings check_report(const Value& root, const Place& place);
Findings check_manual_input(const Value& root);
Findings check_gate_state(const Value& root);

/// What baton drives it alone writes: a run state whose steps somebody has changed goes back, and
/// so do the run's own copies of workflow and prompts. Members that baton does not know are
/// anybody's.
Admission admit(const View& view, const Change& change);

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

/// The run state as it was accepted last; nothing for a run of another program.
std::vector<Create> rebuild(const View& view);

}  // namespace baton::agent_run
