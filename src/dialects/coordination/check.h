#pragma once

#include <map>
#include <string>

#include "core/dialect.h"
#include "dialects/coordination/plan.h"

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

}  // namespace baton::coordination
