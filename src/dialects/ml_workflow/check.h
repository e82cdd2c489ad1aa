#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/findings.h"
#include "dialects/ml_workflow/steps.h"

namespace baton::ml_workflow {

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

}  // namespace baton::ml_workflow
