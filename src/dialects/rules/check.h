#pragma once

#include <map>
#include <string>

#include "core/dialect.h"

namespace baton::rules {

/// `rules/stage` and `rules/decision` of single documents, `rules/subject` across them.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);
std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options);

}  // namespace baton::rules
