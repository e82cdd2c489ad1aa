// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that make the dialect `ml_workflow`: one state file per workflow, seven steps with
// thresholds and approvals. `core/dialect.h` says when the engine calls each of them. next_step.h
// decides what comes next.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/findings.h"
#include "dialects/ml_workflow/steps.h"

namespace baton::ml_workflow {

std::vector<FileKind> files(const Json& options);
/// The state file of a workflow: `workflow_states/NAME/state.json`.
std::string state_path(const std::string& workflow, const Json& options);

/// The workflow in a path that ends like the pattern, `workflow_states/<workflow>/state.json`.
std::optional<std::string> workflow_of_path(const std::string& path, const Json& options);

/// The rules that no schema can state; their IDs are on the format page.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);

/// Rules about steps and their order: S3 to S6, S8, S9, S13, S15, S17.
void history_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings);
/// Rules about scores and counters: S7, S14, S19, S21.
void score_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings);

/// Whether an approval was given. The newest decision counts more than the flag.
bool approved(const Value& root, const std::vector<Entry>& entries, std::string_view approval);
/// The newest decision, if the flag says approved and the decision does not; else empty.
std::string_view outranks_flag(const Value& root, const std::vector<Entry>& entries,
                               std::string_view approval);

/// The pointer to a member of an entry: `/step_history/3/agent`.
std::string pointer_of(const Entry& entry, std::string_view member);

/// Decides by the table of the format page. First it records what runs and people did.
Decision decide(const View& view);

/// The values for the prompt of a start (schemas/ml_workflow/prompts). For commands: step,
/// template, artifacts, instance (1, and one more for each time the step was tried again).
Brief brief(const View& view, const Desired& desired);

/// Rules about changes of the file: T1 to T5 of the format page. Agents and people overwrite the
/// whole file from their own copies. baton keeps what each of them may change and puts the rest
/// back.
Admission admit(const View& view, const Change& change);

/// For `start`: the state file of a new workflow, `initialized`. Arguments: `requirements`, and
/// `set`, values by JSON pointer in the file. No update if the workflow exists with the same
/// requirements. Errc::usage otherwise.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// The state files to try: the last accepted one, then the backups, newest first. baton adds
/// recovery_metadata to each. It also pauses the workflow, unless it had ended or the option
/// `after_recovery` is `running`.
std::vector<Create> rebuild(const View& view);

}  // namespace baton::ml_workflow
