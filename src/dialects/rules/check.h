#pragma once

#include <map>
#include <string>

#include "core/dialect.h"

namespace baton::rules {

/// `rules/stage` and `rules/decision` of single documents, `rules/subject` across them.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

}  // namespace baton::rules
