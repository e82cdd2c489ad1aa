// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "core/condition.h"

namespace baton {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::filesystem::path(BATON_SCENARIOS).parent_path().parent_path() / name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> words_in(const Value& schema, const char* pointer) {
  const Value* const list = json::at(schema, pointer);
  REQUIRE(list != nullptr);
  std::set<std::string> words;
  for (const Value& each : list->GetArray())
    if (each.IsString())
      words.insert(each.GetString());
  return words;
}

TEST_CASE("the page and the schemas have the words of the tables") {
  const std::string page = read("docs/status.md");
  std::set<std::string> conditions;
  std::set<std::string> reason_words;
  for (const ConditionRow& row : kConditions) {
    CAPTURE(row.word);
    conditions.insert(std::string(row.word));
    CHECK(page.find("| `" + std::string(row.word) + "` | " + std::string(row.means) + " | " +
                    (row.person ? "**yes**" : "no") + " |") != std::string::npos);
    CHECK(page.find(std::string("   ") + std::string(row.word) + "   ") != std::string::npos);
  }
  for (const ReasonRow& row : reasons())
    if (row.reason != Reason::none) {
      CAPTURE(row.word);
      reason_words.insert(std::string(row.word));
      CHECK(page.find("| `" + std::string(row.word) + "` | ") != std::string::npos);
      CHECK(page.find(" | " + std::string(row.means) + " |") != std::string::npos);
    }
  for (const char* const name : {"status", "explain", "notify"}) {
    CAPTURE(name);
    const auto schema = parse_json(read("schemas/output/" + std::string(name) + ".schema.json"));
    REQUIRE(schema);
    const std::string at = std::string(name) == "explain"  ? "/definitions/status/properties"
                           : std::string(name) == "notify" ? "/items/properties"
                                                           : "/properties";
    CHECK(words_in(**schema, (at + "/condition/enum").c_str()) == conditions);
    CHECK(words_in(**schema, (at + "/reason/enum").c_str()) == reason_words);
  }
}

}  // namespace
}  // namespace baton
