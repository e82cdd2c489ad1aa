// SPDX-License-Identifier: Apache-2.0

// The format page says of every key what becomes of it; here the page is held against the code.

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/text.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_parts.h"

namespace baton::fsm_loop {

namespace {

std::string read(const std::string& name) {
  std::ifstream in(std::string(BATON_SCHEMAS) + "/fsm_loop/" + name, std::ios::binary);
  REQUIRE(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The words in the first column of a table that can be keys.
std::vector<std::string> words_in(const std::string& cell) {
  const std::set<std::string> prose = {"", "on_", "_ok", "mcp_tool", "contract", "others"};
  std::vector<std::string> words;
  std::string word;
  for (const char c : cell + " ") {
    if ((c >= 'a' && c <= 'z') || c == '_')
      word += c;
    else if (!prose.contains(word))
      words.push_back(std::exchange(word, ""));
    else
      word.clear();
  }
  return words;
}

struct KeyOnPage {
  std::string key;
  std::string use;
};

/// The rows below a heading, up to the next one.
std::vector<KeyOnPage> table(const std::string& page, const std::string& heading) {
  std::vector<KeyOnPage> rows;
  const auto begin = page.find("\n" + heading);
  REQUIRE(begin != std::string::npos);
  const auto end = page.find("\n##", begin + heading.size());
  for (const std::string& line : split(page.substr(begin, end - begin), '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 6 || cells[1] == "---" || cells[1] == " key ")
      continue;
    for (std::string& word : words_in(cells[1]))
      rows.push_back({std::move(word), cells[4]});
  }
  return rows;
}

using CheckKeys = void (*)(const Value& object, FindingList& findings);

/// The rules that the code tells of a key with a value that asks for something.
std::set<std::string> notified_state_of(const std::string& key, CheckKeys check) {
  FindingList findings("fsm_loop");
  const Json object = Json::object({{key, "x"}});
  check(*object, findings);
  std::set<std::string> rules;
  for (const Finding& finding : findings.take())
    rules.insert(finding.rule);
  return rules;
}

void compare(const std::vector<KeyOnPage>& rows, CheckKeys check) {
  CHECK(rows.size() > 25);
  for (const KeyOnPage& row : rows) {
    CAPTURE(row.key);
    CAPTURE(row.use);
    std::set<std::string> expected;
    if (row.use.find("start refuses") != std::string::npos)
      expected = {"fsm_loop/S8"};
    else if (row.use.starts_with(" notice: not applied"))
      expected = {"fsm_loop/S30"};
    else
      CHECK((row.use.starts_with(" implemented") || row.use.starts_with(" accepted") ||
             row.use == " below "));
    CHECK(notified_state_of(row.key, check) == expected);
  }
}

void check_states(const Value& object, FindingList& findings) {
  check_state_keys(object, "/states/a", findings);
}

/// Every key that the schema knows has a row.
void check_complete(const Value& properties, const std::vector<KeyOnPage>& rows,
                    const std::set<std::string>& elsewhere) {
  for (const auto& member : properties.GetObject()) {
    const std::string key = member.name.GetString();
    CAPTURE(key);
    CHECK((elsewhere.contains(key) ||
           std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.key == key; })));
  }
}

}  // namespace

TEST_CASE("the format page says of every key what the code makes of it") {
  const std::string page = read("README.md");
  const Json schema = baton::testing::json_from(read("definition.schema.json"));
  const auto top = table(page, "## Definition");
  compare(top, check_top_keys);
  const auto states = table(page, "### States");
  compare(states, check_states);
  // Those of the short forms have a table of their own.
  check_complete(*json::child(*schema, "properties"), top,
                 {"goal", "tools", "check", "toward", "using", "tolerance", "constraints", "steps",
                  "until", "evaluator"});
  check_complete(*json::at(*schema, "/definitions/state/properties"), states, {});
}

}  // namespace baton::fsm_loop
