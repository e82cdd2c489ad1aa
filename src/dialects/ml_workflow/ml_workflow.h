#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/findings.h"
#include "dialects/ml_workflow/steps.h"

namespace baton {

/// The seven-step workflow, one folder each below `workflow_states`. The format page is
/// schemas/ml_workflow/README.md.
const Dialect& ml_workflow_dialect();

}  // namespace baton

namespace baton::ml_workflow {

std::vector<FileKind> files(const Json& options);
/// `workflow_states/NAME/state.json`
std::string state_path(const std::string& workflow, const Json& options);

/// The workflow that a path names, if it ends as the pattern does: in
/// `workflow_states/<workflow>/state.json`.
std::optional<std::string> workflow_of_path(const std::string& path, const Json& options);

/// The rules no schema can state; their IDs are on the format page.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

/// Those about the steps and their order: S3 to S6, S8, S9, S13, S15, S17.
void history_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings);
/// Those about scores and counters: S7, S14, S19, S21.
void score_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings);

/// Whether the file says that an approval was given: its newest decision, which outranks the flag.
bool approved(const Value& root, const std::vector<Entry>& entries, std::string_view approval);
/// The newest decision where the flag says `approved` and it does not; else empty.
std::string_view outranks_flag(const Value& root, const std::vector<Entry>& entries,
                               std::string_view approval);

/// `/step_history/3/agent`
std::string pointer_of(const Entry& entry, std::string_view member);

/// The decision table of the format page, row by row; what runs and people did is entered first.
Decision decide(const View& view);

/// Rules about successive versions: T1 to T6 of the format page. Several agents and people
/// overwrite the whole file from copies of their own; what each may change is taken, the rest
/// stays.
Admission admit(const View& view, const Change& change);

/// For `start`: the state file of a new workflow, `initialized`. Arguments: `requirements`, and
/// `set`, values by JSON pointer within the file. Nothing when the workflow is there already and is
/// asked for alike. Errc::usage otherwise.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// The state file as it was accepted last, then as the backups have it, the newest first; paused
/// unless it had ended or the options say otherwise, and with recovery_metadata.
std::vector<Create> rebuild(const View& view);

}  // namespace baton::ml_workflow
