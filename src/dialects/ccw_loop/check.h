#pragma once

#include <map>
#include <string>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// The rules no schema can state; their IDs are on the format page.
std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope);

/// Whether updated_at is further ahead than clocks are wrong by accident (S12).
bool ahead(const Value& root, Time wall);
/// S12 as far as it asks the clock.
std::map<std::string, Findings> check_clock(const FlowState& docs, Time wall);

}  // namespace baton::ccw_loop
