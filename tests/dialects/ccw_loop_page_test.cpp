// SPDX-License-Identifier: Apache-2.0

// The format page of ccw_loop gives its rules, steps and decisions ids; each has a scenario that
// says it shows it, and no scenario shows what the page does not know.

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "base/json/json.h"

namespace {

namespace fs = std::filesystem;

/// The first cells of the page's tables that are ids or commands.
std::set<std::string> ids_of_the_page() {
  std::ifstream page(fs::path(BATON_SCHEMAS) / "ccw_loop" / "README.md");
  REQUIRE(page.good());
  const std::regex id(R"(^\| ([ALST]\d+|C-\d+) \|.*)");
  const std::regex command(R"(^\| `baton ([a-z]+) .*)");
  std::set<std::string> ids;
  std::smatch found;
  for (std::string line; std::getline(page, line);)
    if (std::regex_match(line, found, id) || std::regex_match(line, found, command))
      ids.insert(found[1]);
  return ids;
}

std::set<std::string> ids_shown() {
  std::set<std::string> ids;
  for (const auto& entry : fs::directory_iterator(fs::path(BATON_SCENARIOS) / "ccw_loop")) {
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    const auto first = baton::parse_json(line);
    REQUIRE_MESSAGE(first, entry.path().string());
    if (const baton::Value* const shows = baton::json::child(**first, "shows"))
      for (const baton::Value& id : shows->GetArray())
        ids.emplace(baton::json::text(id).value_or(""));
  }
  return ids;
}

}  // namespace

TEST_SUITE("ccw_loop") {
  TEST_CASE("every rule, step and decision of the page has its scenario") {
    const std::set<std::string> known = ids_of_the_page();
    const std::set<std::string> shown = ids_shown();
    CHECK(known.size() == 7 + 21 + 8 + 11 + 42 + 10);  // T, S, A, L, C, commands
    for (const std::string& id : known)
      CHECK_MESSAGE(shown.contains(id), id << " has no scenario");
    for (const std::string& id : shown)
      CHECK_MESSAGE(known.contains(id), id << " is not on the page");
  }
}
