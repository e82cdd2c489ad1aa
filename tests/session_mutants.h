// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::testing {

/// The dialect `coordination` with one piece taken out; each must be noticed by the simulation.
struct SessionMutant {
  std::string_view name;
  Dialect dialect;
};
const std::vector<SessionMutant>& session_mutants();

}  // namespace baton::testing
