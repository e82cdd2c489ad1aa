#pragma once

#include <map>
#include <string>

#include "core/dialect.h"
#include "dialects/coordination/plan.h"

namespace baton {

/// A coordination folder: project manager, developers, QA expert and tech lead work on groups of
/// tasks, and baton is their orchestrator (schemas/coordination/README.md).
const Dialect& coordination_dialect();

}  // namespace baton

namespace baton::coordination {

/// The S rules of the format page. Scope::document: those one file can break by itself.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

// By kind.
Findings check_plan(const Value& pm);
Findings check_groups(const Value& status, bool reviews);
Findings check_orchestrator(const Value& state);
Findings check_mailbox(const Value& mailbox);

/// S4, V-20: where the plan says something else than group_status, which has the last word.
Findings check_progress(const Plan& plan, const Value& pm);

/// A finding of `coordination/ID`.
Finding finding(Severity severity, const std::string& id, std::string pointer, std::string message);

/// For `init` and `start`: the files that are missing, empty but valid; with `requirements` among
/// the arguments they become the session's. Files that are there stay and mean "resume this
/// session". Errc::usage when requirements are given for a session that has its own.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// The text of a mailbox with a message more. What the sender leaves out is filled in: `id`,
/// `from`, `to`, `timestamp`, `read: false`. Errc::usage when `kind` is no mailbox, the message is
/// no object, has no group, or claims to be from or to somebody else; Errc::schema when the mailbox
/// has no list. Aliases (words.h) are understood, and written as the words they stand for.
Result<std::string> with_message(const Document& document, std::string_view kind,
                                 const Value& given, Time wall);

}  // namespace baton::coordination
