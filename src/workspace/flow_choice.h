#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/flow.h"

namespace baton {

/// A flow, and which of several roots has it.
struct FlowPlace {
  std::size_t root = 0;
  FlowId flow;
};
/// What is known of one root.
struct KnownFlows {
  std::string root;
  std::vector<FlowId> flows;
};
/// The flow somebody means: `dialect/name`, or a name that is unique. Errc::usage with the list, or
/// with the roots when several have it.
Result<FlowPlace> choose_flow(const std::string& name, const std::vector<KnownFlows>& known);
/// What was not found among the roots that can be seen. Errc::denied where one is hidden.
Error not_found_among(Error error, bool hidden);

}  // namespace baton
