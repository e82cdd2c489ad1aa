// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that make the dialect `coordination`: a folder in which a project manager,
// developers, a QA expert and a tech lead work on groups of tasks. `core/dialect.h` says when the
// engine calls each of them. decide.h has the parts of a decision.

#include <map>
#include <string>

#include "core/dialect.h"
#include "dialects/coordination/plan.h"

namespace baton::coordination {

/// The S rules of the format page: about one file alone, and across files.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);
std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options);

// The rules about one kind of document.
Findings check_plan(const Value& pm);
Findings check_groups(const Value& status, bool reviews);
Findings check_orchestrator(const Value& state);
Findings check_mailbox(const Value& mailbox);

/// S4, V-20: where the plan differs from group_status. baton goes by group_status.
Findings check_progress(const Plan& plan, const Value& pm);

/// A finding of `coordination/ID`.
Finding finding(Severity severity, const std::string& id, std::string pointer, std::string message);

/// For `init` and `start`: creates the missing files, empty but valid. Existing files stay as they
/// are. Argument `requirements`: what the session has to do. Errc::usage: the session has other
/// requirements, the flow is not the dialect's folder, or an argument is unknown.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// The text of a mailbox with one more message. Fills in missing members: `id`, `from`, `to`,
/// `timestamp`. Sets `read` to false and replaces aliases (words.h). Errc::usage: `kind` is no
/// mailbox, the id is taken, or the message is no object, has no group, or names another sender or
/// reader. Errc::schema: the mailbox has no list.
Result<std::string> with_message(const Document& document, std::string_view kind,
                                 const Value& given, Time wall);

}  // namespace baton::coordination
