// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/document_check.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace baton {
namespace {

std::shared_ptr<const Document> lines(const std::string& text) {
  auto document = load_document(text, Format::jsonl);
  REQUIRE(document.has_value());
  return *document;
}

TEST_CASE("lines whose end is lost do not fall back to what stood in front of it") {
  struct Row {
    const char* before;
    const char* now;
    std::size_t refused_line;  // 0: accepted
  };
  std::string broken;
  for (int i = 0; i < 150; ++i)
    broken += "x\n";
  const std::string last_of_many = "1\n" + broken;
  const std::vector<Row> rows = {
      {"1\n2\n", "1\n2\n3\n", 0},
      {"1\n2\n", "1\n2\n{", 0},
      {"1\n2\n", "1\n{", 2},
      {"1\n2\n", "1\n{\n\n", 2},
      {"1\n2\n", "1\n", 0},
      {"1\n2\n", "1\n{\n3\n", 0},
      {"1\n2\n", "{\n", 1},
      {"1\n2\n", "7\n{", 0},
      {"{\n", "{", 0},
      {"1\n2\n", last_of_many.c_str(), 151},
  };
  for (const Row& row : rows) {
    CAPTURE(row.before);
    CAPTURE(row.now);
    DocumentCheck checked;
    checked.document = lines(row.now);
    const DocumentCheck judged = checked_after(checked, *lines(row.before), true);
    CHECK(judged.accepted() == (row.refused_line == 0));
    if (row.refused_line == 0)
      continue;
    REQUIRE(judged.findings.size() == 1);
    CHECK(judged.findings[0].span.begin.line == row.refused_line);
  }
}

}  // namespace
}  // namespace baton
