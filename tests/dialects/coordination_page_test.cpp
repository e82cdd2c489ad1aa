// SPDX-License-Identifier: Apache-2.0

// The format page of coordination gives its rows, rules and decisions ids; each has a scenario that
// says it shows it (rules of documents: a scenario, a sample or a row of a table), and no scenario
// shows what the page does not know.

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

/// Rows of "Who is started when" (`row 11b`), rules (S1, T1; several in one cell), decisions (V-1).
std::set<std::string> ids_of_the_page() {
  std::ifstream page(fs::path(BATON_SCHEMAS) / "coordination" / "README.md");
  REQUIRE(page.good());
  const std::regex row(R"(^\| (\d+b?) \|.*)");
  const std::regex rule(R"(\b([ST]\d+)\b)");
  const std::regex decision(R"(^\| (V-\d+) \|.*)");
  const std::regex first_cell(R"(^\| ([ST]\d+[^|]*) \|.*)");
  std::set<std::string> ids;
  std::smatch found;
  for (std::string line; std::getline(page, line);) {
    if (std::regex_match(line, found, row))
      ids.insert("row " + found[1].str());
    if (std::regex_match(line, found, decision))
      ids.insert(found[1]);
    if (!std::regex_match(line, found, first_cell))
      continue;
    const std::string cell = found[1];
    for (std::sregex_iterator at(cell.begin(), cell.end(), rule), end; at != end; ++at)
      ids.insert((*at)[1]);
  }
  return ids;
}

std::set<std::string> ids_shown() {
  std::set<std::string> ids;
  for (const auto& entry : fs::directory_iterator(fs::path(BATON_SCENARIOS) / "coordination")) {
    if (entry.path().extension() != ".jsonl")
      continue;
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

/// S rules that samples and the tables of coordination_test name.
std::set<std::string> rules_tested() {
  std::set<std::string> ids;
  const fs::path samples(BATON_SAMPLES);
  const std::regex rule(R"re("(?:coordination/)?(S\d+)")re");
  for (const fs::path& path : {samples / "coordination" / "manifest.json",
                               samples.parent_path() / "dialects" / "coordination_test.cpp"}) {
    std::ifstream file(path);
    REQUIRE_MESSAGE(file.good(), path.string());
    for (std::string line; std::getline(file, line);)
      for (std::sregex_iterator at(line.begin(), line.end(), rule), end; at != end; ++at)
        ids.insert((*at)[1]);
  }
  return ids;
}

}  // namespace

TEST_SUITE("coordination") {
  TEST_CASE("every row, rule and decision of the page has its scenario") {
    const std::set<std::string> known = ids_of_the_page();
    const std::set<std::string> shown = ids_shown();
    const std::set<std::string> tested = rules_tested();
    CHECK(known.size() == 21 + 24 + 8 + 38);  // rows 1 to 20 and 11b, S, T, V
    for (const std::string& id : known)
      CHECK_MESSAGE((shown.contains(id) || tested.contains(id)), id << " has no scenario");
    for (const std::string& id : shown)
      CHECK_MESSAGE(known.contains(id), id << " is not on the page");
  }
}
