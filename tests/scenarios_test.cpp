// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "day.h"
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

/// Every sixth file, others each day, as in tests/e2e/world.py. All of them with BATON_COMPLETE=1.
std::vector<std::filesystem::path> sample_of_today(const std::vector<std::filesystem::path>& all) {
  constexpr std::size_t kStep = 6;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (const char* const complete = std::getenv("BATON_COMPLETE"); complete != nullptr)
    return all;
  const std::uint64_t day = baton::testing::day();
  std::vector<std::filesystem::path> chosen;
  for (std::size_t i = day % kStep; i < all.size(); i += kStep)
    chosen.push_back(all[i]);
  MESSAGE("a sample of day " << day << ": " << chosen.size() << " of " << all.size());
  return chosen;
}

}  // namespace

TEST_SUITE("scenarios") {
  TEST_CASE("every file below tests/scenarios holds when each step looks at one file only") {
    const auto files = sample_of_today(scenario_files());
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
