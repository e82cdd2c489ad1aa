#pragma once

#include <filesystem>
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

}  // namespace baton::testing
