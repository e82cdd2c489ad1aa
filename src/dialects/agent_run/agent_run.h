// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that make the dialect `agent_run`: workflow runs below `.agents/runs`.
// `core/dialect.h` says when the engine calls each. decide.h has the parts of a decision.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "core/dialect.h"

namespace baton::agent_run {

/// The run and the step in the name of a file. Empty if the name does not fit its kind.
struct RunFile {
  std::string run;
  std::string step;
  std::string runs = {};  ///< folder of all runs, relative to the root
};

/// The kinds of files below the option `path` (`.agents/runs`). A run may also name a workflow, a
/// gate state and a list of items elsewhere. The patterns here are for those inside the folder of
/// the run.
std::vector<FileKind> files(const Json& options);

/// The option `path` without a trailing `/`.
std::string runs_folder(const Json& options);

/// Reads run and step from the name of a file.
RunFile run_file_of(const Json& options, std::string_view kind, std::string_view path);

/// The rules that no schema can state, one function for each kind of document. The format page
/// lists them. The document must have passed its schema.
Findings check_workflow(const Value& root);
Findings check_run_state(const Value& root, const RunFile& run_file);
Findings check_report(const Value& root, const RunFile& run_file);
Findings check_manual_input(const Value& root);
Findings check_gate_state(const Value& root);

/// Only baton writes the state of a run that it drives. If another program changes it, or the run's
/// copies of workflow and prompts, baton puts the last version back. Members that baton does not
/// know may change.
Admission admit(const View& view, const Change& change);

/// `baton start`. Arguments:
///
/// - workflow: text of the workflow file; required for a new run
/// - workflow_path: absolute path of that file
/// - prompts: texts of the prompt files, by step
/// - max_attempts, max_iterations: counts
/// - pause_for_human_input: true or false
/// - gate_state_file, logs_dir: paths below the root
/// - set: variables for the environment of every agent, by name
/// - start_at_step: reset this step and all later ones; the run must exist
///
/// With a workflow it also takes over a run of another program.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// Tells a person how to take over a run.
std::string take_over_hint(const View& view);

/// The last accepted run state. Empty for a run of another program.
std::vector<Create> rebuild(const View& view);

/// The text of the prompt file, and the environment variables of the original (format page).
Brief brief(const View& view, const Desired& desired);

/// The placeholders that `brief` adds for the command of a role.
inline constexpr std::array<std::string_view, 8> kPlaceholders = {
    "agent", "manual_input", "model", "prompt", "repo", "report", "step_attempt", "step_id"};

}  // namespace baton::agent_run
