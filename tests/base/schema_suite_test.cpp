// SPDX-License-Identifier: Apache-2.0

// The official JSON Schema test suite, where Debian's package json-schema-test-suite is installed.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "base/schema/schema.h"
#include "base/schema/schema_walk.h"
#include "print.h"

namespace baton {
namespace {

const std::filesystem::path suite_folder = "/usr/share/json-schema-test-suite";

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<std::string> fetch(std::string_view uri) {
  constexpr std::string_view kHost = "http://localhost:1234/";
  if (!uri.starts_with(kHost))
    return fail(Errc::not_found, "no such schema: " + std::string(uri));
  const auto path = suite_folder / "remotes" / uri.substr(kHost.size());
  if (!std::filesystem::exists(path))
    return fail(Errc::not_found, "no such schema: " + std::string(uri));
  return read(path);
}

/// The suite leaves `$schema` out; each folder stands for a draft.
std::string with_draft(const Value& schema, std::string_view draft) {
  if (!schema.IsObject() || json::child(schema, "$schema") != nullptr)
    return json::dump(schema);
  Json copy(schema);
  copy.set("$schema", "http://json-schema.org/" + std::string(draft) + "/schema#");
  return copy.dump();
}

void run_test(const Schema& schema, const Value& test) {
  const std::string name(json::text(test, "description").value_or(""));
  CAPTURE(name);
  const auto document = load_document(json::dump(*json::child(test, "data")), Format::json);
  REQUIRE(document.has_value());
  const Findings findings = schema.check(**document);
  CHECK(findings.empty() == json::boolean(test, "valid"));
  for (const Finding& finding : findings)
    CHECK(finding.rule != "schema/limit");
}

void run_group(const Value& group, std::string_view draft) {
  const std::string name(json::text(group, "description").value_or(""));
  CAPTURE(name);
  const auto schema =
      compile_schema(with_draft(*json::child(group, "schema"), draft), "suite.json", fetch);
  const std::string error = schema ? "" : describe(schema.error());
  CAPTURE(error);
  CHECK(schema.has_value());
  if (!schema)
    return;
  for (const Value& test : json::child(group, "tests")->GetArray())
    run_test(**schema, test);
}

void run_draft(const std::string& folder, std::string_view draft) {
  INFO("json-schema-test-suite (scripts/packages) has to be installed");
  REQUIRE(std::filesystem::exists(suite_folder / "tests" / folder));
  std::size_t tests = 0;
  for (const auto& entry : std::filesystem::directory_iterator(suite_folder / "tests" / folder)) {
    if (entry.path().extension() != ".json")
      continue;
    CAPTURE(entry.path().string());
    const auto document = load_document(read(entry.path()), Format::json);
    REQUIRE(document.has_value());
    for (const Value& group : (*document)->root().GetArray()) {
      tests += json::child(group, "tests")->Size();
      run_group(group, draft);
    }
  }
  CHECK(tests > 300);
}

struct Figure {
  std::size_t passed = 0;
  std::size_t all = 0;
};

/// Optional tests: what is not passed is counted, not wrong. Returns the figure of the file.
Figure figure_of(const std::filesystem::path& path, std::string_view draft) {
  Figure figure;
  const auto document = load_document(read(path), Format::json);
  REQUIRE(document.has_value());
  for (const Value& group : (*document)->root().GetArray()) {
    const auto schema =
        compile_schema(with_draft(*json::child(group, "schema"), draft), "suite.json", fetch);
    for (const Value& test : json::child(group, "tests")->GetArray()) {
      ++figure.all;
      const auto data = load_document(json::dump(*json::child(test, "data")), Format::json);
      if (schema && data)
        figure.passed += (*schema)->check(**data).empty() == json::boolean(test, "valid") ? 1U : 0U;
    }
  }
  return figure;
}

Figure optional_figures(const std::string& folder, std::string_view draft) {
  Figure sum;
  const auto below = suite_folder / "tests" / folder / "optional";
  INFO("json-schema-test-suite (scripts/packages) has to be installed");
  REQUIRE(std::filesystem::exists(below));
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(below)) {
    if (entry.path().extension() != ".json")
      continue;
    const Figure figure = figure_of(entry.path(), draft);
    sum.passed += figure.passed;
    sum.all += figure.all;
    if (figure.passed < figure.all)
      text += "\n  " + entry.path().filename().string() + " " + std::to_string(figure.passed) +
              "/" + std::to_string(figure.all);
  }
  MESSAGE(folder << " optional: " << sum.passed << " of " << sum.all << text);
  return sum;
}

}  // namespace

TEST_CASE("optional tests, formats among them, are counted") {
  // What these figures were; a fall is a fault.
  struct Row {
    std::string folder;
    std::string_view draft;
    std::size_t most_failures;
  };
  for (const Row& row :
       {Row{"draft4", "draft-04", 2}, Row{"draft6", "draft-06", 0}, Row{"draft7", "draft-07", 4}}) {
    CAPTURE(row.folder);
    const Figure figure = optional_figures(row.folder, row.draft);
    CHECK(figure.all - figure.passed <= row.most_failures);
  }
}

TEST_CASE("every required test of draft-04 passes") {
  run_draft("draft4", "draft-04");
}
TEST_CASE("every required test of draft-06 passes") {
  run_draft("draft6", "draft-06");
}
TEST_CASE("every required test of draft-07 passes") {
  run_draft("draft7", "draft-07");
}

}  // namespace baton
