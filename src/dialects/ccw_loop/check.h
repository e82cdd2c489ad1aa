#pragma once

#include <map>
#include <string>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// The rules no schema can state; their IDs are on the format page.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

}  // namespace baton::ccw_loop
