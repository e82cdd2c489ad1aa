#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scenario.h"
#include "world.h"

namespace {

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(BATON_SCENARIOS))
    if (entry.path().extension() == ".jsonl")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_SUITE("scenarios") {
  TEST_CASE("every file below tests/scenarios holds when each step looks at one file only") {
    const auto files = scenario_files();
    baton::testing::step_limits() = baton::testing::kOneFile;
    static std::set<std::string> names;
    for (const auto& file : files) {
      // Both names of its file have to be met in one step; engine/intake/renamed_files.h says why.
      if (file.filename() == "renamed_link.jsonl")
        continue;
      for (const auto& fault : baton::testing::run_scenario(file))
        ADD_FAIL_CHECK_AT(names.insert(file.string()).first->c_str(), fault.line, fault.what);
    }
    baton::testing::step_limits() = {};
  }

  TEST_CASE("every file below tests/scenarios holds") {
    const auto files = scenario_files();
    REQUIRE(!files.empty());
    // doctest keeps the pointer to the file's name until the end of the run.
    static std::set<std::string> names;
    for (const auto& file : files)
      for (const auto& fault : baton::testing::run_scenario(file))
        ADD_FAIL_CHECK_AT(names.insert(file.string()).first->c_str(), fault.line, fault.what);
    CHECK(baton::testing::unheard_events() == std::set<std::string>());
    MESSAGE(files.size() << " scenarios");
  }
}
