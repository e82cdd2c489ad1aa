// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace baton::testing {

struct ScenarioFault {
  int line = 0;
  std::string what;  ///< what was expected and what was got
};

/// Runs one file of the format in scenarios/README.md. No fault: it holds. It ends at the first
/// fault.
std::vector<ScenarioFault> run_scenario(const std::filesystem::path& file);

/// Events that a scenario of this process has counted, and that happened in none: slips of the pen,
/// which would hold for ever where none is expected.
std::set<std::string> unheard_events();

}  // namespace baton::testing
