// SPDX-License-Identifier: Apache-2.0
#include "findings/report.h"

#include <doctest/doctest.h>

#include "base/json/json.h"
#include "base/text.h"

namespace baton {
namespace {

Finding finding(std::string rule, std::string message, std::size_t line, std::size_t column) {
  Finding out;
  out.rule = std::move(rule);
  out.message = std::move(message);
  out.pointer = "/status";
  out.span = {{line, column, 0}, {line, column + 6, 6}};
  return out;
}

Report one(const std::string& path, Findings findings) {
  Report report;
  report.checked = 1;
  report.files.push_back({.path = path, .kind = "rules/t", .findings = std::move(findings)});
  return report;
}

Json parsed(const std::string& text) {
  auto json = parse_json(text);
  REQUIRE(json.has_value());
  return *std::move(json);
}

std::string text_at(const Json& json, std::string_view pointer) {
  const Value* const value = json::at(*json, pointer);
  REQUIRE(value != nullptr);
  return std::string(json::text(*value).value_or("(no text)"));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a path that is no UTF-8 does not make the JSON report unreadable") {
  const Json json = parsed(report_json(one("a\xFF\n.json", {finding("json", "torn", 1, 2)})));
  CHECK(text_at(json, "/findings/0/path") == "a\\xff\\x0a.json");
  // What is text stays as it is.
  const Json plain = parsed(report_json(one("a\n\xC3\xA4.json", {finding("json", "torn", 1, 2)})));
  CHECK(text_at(plain, "/findings/0/path") == "a\n\xC3\xA4.json");
}

TEST_CASE("SARIF names every rule once and places each result") {
  const Report report =
      one("a/b.json", {finding("schema/enum", "x", 2, 3), finding("schema/enum", "y", 4, 5),
                       finding("json", "z", 6, 7)});
  const Json json = parsed(report_sarif(report, "1.2.3"));
  CHECK(text_at(json, "/version") == "2.1.0");
  CHECK(text_at(json, "/runs/0/tool/driver/version") == "1.2.3");
  CHECK(json::at(*json, "/runs/0/tool/driver/rules")->Size() == 2);
  CHECK(json::at(*json, "/runs/0/results")->Size() == 3);
  CHECK(text_at(json, "/runs/0/results/1/ruleId") == "schema/enum");
  const Value& region = *json::at(*json, "/runs/0/results/1/locations/0/physicalLocation/region");
  CHECK(json::integer(region, "startLine") == 4);
  CHECK(json::integer(region, "startColumn") == 5);
  CHECK(json::integer(region, "endColumn") == 11);
}

TEST_CASE("a SARIF fingerprint outlives other lines and values, and tells two findings apart") {
  const auto print = [](const Report& report, std::size_t index) {
    return text_at(parsed(report_sarif(report, "1")),
                   "/runs/0/results/" + std::to_string(index) + "/partialFingerprints/baton~1v1");
  };
  const Report before = one("a.json", {finding("schema/enum", "\"a\" is not", 2, 3)});
  const Report moved = one("a.json", {finding("schema/enum", "\"b\" is not", 9, 1)});
  CHECK(print(before, 0) == print(moved, 0));
  CHECK(print(before, 0) != print(one("b.json", before.files[0].findings), 0));
  const Report twice = one("a.json", {finding("schema/required", "x is missing", 1, 1),
                                      finding("schema/required", "y is missing", 1, 1)});
  CHECK(print(twice, 0) != print(twice, 1));
}

TEST_CASE("a path in SARIF is a URI reference") {
  struct Row {
    std::string path;
    std::string uri;
  };
  for (const Row& row : {Row{"a b/c.json", "a%20b/c.json"}, Row{"c:d.json", "c%3Ad.json"},
                         Row{"/abs/x.json", "file:///abs/x.json"},
                         Row{"\xFF#?.json", "%FF%23%3F.json"}, Row{"100%.json", "100%25.json"}}) {
    CAPTURE(row.path);
    const Json json = parsed(report_sarif(one(row.path, {finding("json", "x", 1, 1)}), "1"));
    CHECK(text_at(json, "/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri") ==
          row.uri);
  }
}

TEST_CASE("JUnit: wrong is a failure, unreadable an error, a warning passes") {
  Report report = one("good.json", {});
  Finding warning = finding("json", "mark", 1, 1);
  warning.severity = Severity::warning;
  report.files.push_back({.path = "warned.json", .findings = {warning}});
  report.files.push_back({.path = "wrong.json", .findings = {finding("schema/enum", "no", 2, 3)}});
  report.files.push_back({.path = "torn.json", .findings = {finding("json", "torn", 1, 9)}});
  report.files.push_back({.path = "gone.json", .findings = {finding("file", "gone", 1, 1)}});
  const std::string xml = report_junit(report);
  CHECK(has(xml, "tests=\"5\" failures=\"1\" errors=\"2\""));
  CHECK(has(xml, "<testcase classname=\"rules/t\" name=\"good.json\"/>"));
  CHECK(has(xml, "<system-out>warned.json:1:1: warning: /status: mark [json]"));
  CHECK(
      has(xml, "<failure message=\"no\" type=\"schema/enum\">wrong.json:2:3: error: /status: no"));
  CHECK(has(xml, "<error message=\"torn\" type=\"json\">"));
  CHECK(has(xml, "<error message=\"gone\" type=\"file\">"));
}

TEST_CASE("JUnit escapes what XML takes for markup or cannot hold") {
  const std::string xml = report_junit(
      one("<a>&\"\x01\xFF.json", {finding("json", "1 < 2 \xEF\xBF\xBF & \"q\"", 1, 1)}));
  CHECK(has(xml, "name=\"&lt;a&gt;&amp;&quot;\\x01\\xff.json\""));
  CHECK(has(xml, "message=\"1 &lt; 2 ? &amp; &quot;q&quot;\""));
}

TEST_CASE("GitHub: a finding is a workflow command with its place") {
  const std::string text =
      report_github(one("a,b:c.json", {finding("schema/enum", "50% no", 2, 3)}));
  CHECK(
      text.starts_with("::error file=a%2Cb%3Ac.json,line=2,col=3,endColumn=9,"
                       "title=schema/enum::/status: 50%25 no\n"));
  CHECK(has(text, "- a,b:c.json:2:3: error: /status: 50% no [schema/enum]\n"));
}

TEST_CASE("neither a suggestion nor a path brings control characters along") {
  Finding wrong = finding("schema/enum", "no", 2, 3);
  wrong.suggestion = "a\x1b[31m\nb";
  CHECK(sentence(wrong) == "no; did you mean a\\x1b[31m\\x0ab?");
  const std::string text = report_github(one("a\x1b\r\n.json", {wrong}));
  CHECK_FALSE(has(text, "\x1b"));
  CHECK_FALSE(has(text, "\r"));
  CHECK(has(text, "::error file=a%1B%0D%0A.json,line=2"));
}

TEST_CASE("GitHub: a property cannot end early, whatever stands in a name or a rule") {
  Finding wrong = finding("rules/a,b:c%0A::x", "m", 2, 3);
  wrong.pointer = "/a\n::error::b";
  const std::string text = report_github(one("x,line=9::y", {wrong}));
  CHECK(
      text.starts_with("::error file=x%2Cline=9%3A%3Ay,line=2,col=3,endColumn=9,"
                       "title=rules/a%2Cb%3Ac%250A%3A%3Ax::"));
  CHECK(split(text, '\n').size() == 3);
}

TEST_CASE("GitHub: nothing in a file's name or text becomes a command of its own") {
  const Report report =
      one("::add-mask::x\n::stop", {finding("json", "##[add-matcher]x ##[group]y", 1, 1)});
  for (const std::string& line : split(report_github(report), '\n')) {
    CAPTURE(line);
    CHECK((line.empty() || line.starts_with("::error file=%3A%3Aadd-mask") ||
           line.starts_with("- ")));
    CHECK_FALSE(has(line, "##["));
  }
}

TEST_CASE("GitHub: no line of a text for people is a command") {
  struct Row {
    const char* text;
    const char* harmless;
  };
  for (const Row& row :
       {Row{"", ""}, Row{"a\nb\n", "a\nb\n"}, Row{"a ::error::x", "a ::error::x"},
        Row{"::error::x\n", "\\x3a:error::x\n"}, Row{"a\n  ::error::x", "a\n  \\x3a:error::x"},
        Row{"\u00a0\u3000\t::x", "\u00a0\u3000\t\\x3a:x"}, Row{"a ##[error]x", "a ## [error]x"},
        Row{":x", ":x"}}) {
    CAPTURE(row.text);
    CHECK(without_workflow_commands(row.text) == row.harmless);
  }
}

TEST_CASE("GitHub: ten errors and ten warnings are marked, all are listed") {
  Findings findings;
  for (std::size_t i = 0; i < 25; ++i) {
    findings.push_back(finding("schema/type", "no", i + 1, 1));
    if (i % 2 == 0)
      findings.back().severity = Severity::warning;
  }
  std::size_t errors = 0;
  std::size_t warnings = 0;
  std::size_t listed = 0;
  const std::string text = report_github(one("a.json", findings));
  for (const std::string& line : split(text, '\n')) {
    errors += line.starts_with("::error ") ? 1U : 0U;
    warnings += line.starts_with("::warning ") ? 1U : 0U;
    listed += line.starts_with("- ") ? 1U : 0U;
  }
  CHECK(errors == 10);
  CHECK(warnings == 10);
  CHECK(listed == 25);
  CHECK(has(text, "... and 5 of these without a mark of their own\n"));
}

TEST_CASE("an excerpt shows the line with a mark below the place") {
  const std::string text = "{\n\t\"status\": \"redy\",\n}";
  CHECK(excerpt(text, {{2, 12, 13}, {2, 18, 19}}) ==
        "   \"status\": \"redy\",\n             ^~~~~~\n");
  // A value of several lines is marked to the end of the first; nothing at the end of the text.
  CHECK(excerpt("{\n}", {{1, 1, 0}, {2, 2, 3}}) == "  {\n  ^\n");
  CHECK(excerpt("", {}) == "  \n  ^\n");
  CHECK(excerpt("{", {{1, 2, 1}, {1, 2, 1}}) == "  {\n   ^\n");
  CHECK(excerpt("{", {{5, 2, 99}, {5, 2, 99}}).empty());
}

TEST_CASE("an excerpt counts characters, keeps control characters off, and cuts long lines") {
  CHECK(excerpt("\xC3\xA4\x1B x", {{1, 4, 4}, {1, 5, 5}}) == "  \xC3\xA4? x\n     ^\n");
  CHECK(excerpt("\xEF\xBB\xBFx", {{1, 1, 3}, {1, 2, 4}}) == "  x\n  ^\n");
  const std::string line = std::string(300, 'a') + "X" + std::string(300, 'b');
  const std::string cut = excerpt(line, {{1, 301, 300}, {1, 302, 301}});
  CHECK(cut == "  ..." + std::string(60, 'a') + "X" + std::string(39, 'b') + "...\n  " +
                   std::string(63, ' ') + "^\n");
}

}  // namespace baton
