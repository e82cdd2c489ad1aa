// SPDX-License-Identifier: Apache-2.0

// Judges every sample below tests/samples and every example below schemas, as `validate` and the
// daemon do. A new dialect brings its folders; nothing here has to change.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/json/json.h"
#include "config/registry.h"
#include "core/catalog.h"
#include "engine/intake/document_check.h"

namespace baton {

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> all;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

/// All dialects with their defaults, and the schemas they are judged by.
class Court {
 public:
  Court() : schemas_([](std::string_view) { return fail(Errc::not_found, "no such schema"); }) {
    std::vector<std::pair<const Dialect*, Json>> all;
    for (const Dialect* const each : dialects())
      all.emplace_back(each, Json());
    catalog_ = Catalog::of(all);
  }

  DocumentCheck check_document(const std::string& dialect, const std::string& kind,
                               const fs::path& file, const std::string& path) {
    Catalog::Match match;
    match.flow = FlowId{dialect, path};
    match.entry = catalog_.entry(dialect);
    if (match.entry == nullptr)
      match.entry = &stand_in(dialect, kind, file);
    for (const FileKind& each : match.entry->kinds)
      if (match.kind == nullptr && each.kind == kind)
        match.kind = &each;
    REQUIRE_MESSAGE(match.kind != nullptr, (dialect + "/" + kind + " is no kind: " + path));
    return baton::check_document(match, path, read(file), schemas_, {});
  }

 private:
  /// A dialect that has schemas already, but no code.
  const Catalog::Entry& stand_in(const std::string& dialect, const std::string& kind,
                                 const fs::path& file) {
    static const Dialect none = {.name = "none"};
    FileKind own;
    own.kind = kind;
    own.schema = "schemas/" + dialect + "/" + kind + ".schema.json";
    own.format = file.extension() == ".jsonl"  ? Format::jsonl
                 : file.extension() == ".yaml" ? Format::yaml
                                               : Format::json;
    Catalog::Entry& entry = stand_ins_[dialect + "/" + kind];
    entry.dialect = &none;
    entry.kinds = {own};
    return entry;
  }

  Catalog catalog_;
  Schemas schemas_;
  std::map<std::string, Catalog::Entry> stand_ins_;
};

std::string told(const Findings& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += std::string(f.severity == Severity::error ? "\n  error " : "\n  warning ") + f.rule +
            " at \"" + f.pointer + "\": " + f.message;
  return text.empty() ? " nothing" : text;
}

/// The place itself or something within it: alternatives are told about where they fail.
bool within(const std::string& pointer, std::string_view place) {
  return pointer == place || pointer.starts_with(std::string(place) + "/");
}

bool any(const Findings& findings, Severity severity, const auto& holds) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.severity == severity && holds(finding);
  });
}

bool as_expected(std::string_view expect, const DocumentCheck& verdict) {
  if (expect == "valid")
    return verdict.findings.empty();
  if (expect == "warning")
    return verdict.accepted() && !verdict.findings.empty();
  return expect == "invalid" && !verdict.accepted();
}

/// One row of a manifest; the format is described in tests/samples/README.md.
void check_row(const Value& row, const DocumentCheck& verdict) {
  const std::string_view expect = json::text(row, "expect").value_or("");
  const Findings& findings = verdict.findings;
  CAPTURE(expect);
  CHECK(as_expected(expect, verdict));
  const Severity severity = expect == "invalid" ? Severity::error : Severity::warning;
  if (const auto pointer = json::text(row, "pointer"))
    CHECK(any(findings, severity, [&](const Finding& f) { return within(f.pointer, *pointer); }));
  const Value* const rules = json::child(row, "rules");
  if (rules == nullptr || !rules->IsArray())
    return;
  for (const Value& rule : rules->GetArray()) {
    const std::string id(json::text(rule).value_or(""));
    CAPTURE(id);
    CHECK(any(findings, severity, [&](const Finding& f) { return f.rule == id; }));
  }
}

}  // namespace

TEST_CASE("every sample gets the verdict of its manifest") {
  Court court;
  std::size_t samples = 0;
  for (const fs::path& folder : sorted(BATON_SAMPLES)) {
    if (!fs::is_directory(folder))
      continue;
    const auto manifest = parse_json(read(folder / "manifest.json"));
    REQUIRE_MESSAGE(manifest, (folder / "manifest.json").string());
    for (const Value& row : (**manifest).GetArray()) {
      const std::string file(json::text(row, "file").value_or(""));
      const std::string as(json::text(row, "as").value_or(""));
      const auto slash = as.find('/');
      REQUIRE_MESSAGE(slash != std::string::npos, file);
      const DocumentCheck verdict =
          court.check_document(as.substr(0, slash), as.substr(slash + 1), folder / file, file);
      const std::string where = folder.filename().string() + "/" + file;
      const std::string found = told(verdict.findings);
      CAPTURE(where);
      CAPTURE(found);
      check_row(row, verdict);
      ++samples;
    }
  }
  MESSAGE(samples << " samples");
}

TEST_CASE("every example of a schema folder is what its folder says") {
  Court court;
  std::size_t examples = 0;
  for (const fs::path& dialect : sorted(BATON_SCHEMAS)) {
    for (const bool valid : {true, false}) {
      for (const fs::path& file : sorted(dialect / "examples" / (valid ? "valid" : "invalid"))) {
        const std::string name = file.filename().string();
        const auto mark = name.find("__");
        REQUIRE_MESSAGE(mark != std::string::npos, (name + " is not called KIND__WHAT"));
        const DocumentCheck verdict =
            court.check_document(dialect.filename().string(), name.substr(0, mark), file, name);
        const std::string where = file.string();
        const std::string found = told(verdict.findings);
        CAPTURE(where);
        CAPTURE(found);
        CHECK(verdict.accepted() == valid);
        ++examples;
      }
    }
  }
  MESSAGE(examples << " examples");
}

}  // namespace baton
