// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out what has to be done first: `needs` of a rule names other subjects of the flow or other
// flows of the rule. Nothing starts before all of them are in a stage of `done:`.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dialect.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {

/// Whether a flow of the rule has several subjects. Then `needs` names subjects, else flows.
bool has_subjects(const Rule& rule);

/// The names in a value of `needs`: one text or number, or a list of them. Empty for other values.
std::vector<std::string> needed_names(const Value* value);
/// Why the value is no value of `needs`. Empty: it is one, or there is none.
std::string needs_fault(const Value* value);

/// The flows of the rule that this flow needs. Empty if the rule has subjects or no `needs`.
std::vector<FlowId> needed_flows(const FlowId& flow, const Snapshot& snapshot);

/// Whether flows that need this one may start: all its subjects are in a stage of `done:`. A
/// subject that is gone counts only if all are gone, and then by its last stage.
bool is_finished(const Rule& rule, const std::map<Subject, StageState>& stages);

/// The hold of a subject that other subjects have to be done before. Empty if it may start.
/// `wake`: when to decide again, if it waits for a subject that is not there yet.
std::optional<Hold> needs_hold(const View& view, const Snapshot& snapshot, const Subject& subject,
                               const Role& role, std::optional<Time>& wake);

/// Reports names of `needs` that lead back to themselves, and names that are not there, in the
/// documents of one flow. With the documents of `related_flows` also those of other flows.
void check_needs(const Rule& rule, const Snapshot& snapshot, const FlowState& docs,
                 std::map<std::string, Findings>& found);

/// For Dialect::related: the files of the flows that the documents so far need.
std::vector<std::string> related_flows(const FlowState& docs, const Json& options);

}  // namespace baton::rules
