// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints the result of `baton validate` for people and programs: as JSON, SARIF, GitHub annotations
// or JUnit, and lines of source with a marker.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"

namespace baton {

/// The findings of one file.
struct Inspected {
  std::string path;  ///< as the user named it
  std::string kind;  ///< such as `coordination/pm_state`; empty when unknown
  Findings findings;
  std::string text;  ///< of the file; kept only when lines of it are shown
};

/// The result of one `validate`, in the order in which the files were checked.
struct Report {
  std::vector<Inspected> files;
  std::size_t checked = 0;
  std::size_t skipped = 0;  ///< named or staged, but of unknown kind
};

struct FindingCount {
  std::size_t errors = 0;
  std::size_t warnings = 0;
  bool operator==(const FindingCount&) const = default;
};
FindingCount count_of(const Report& report);

/// One finding as an object of `findings` in `baton/validate/v1`.
Json finding_json(const std::string& path, const Finding& finding);
/// `baton/validate/v1` (schemas/output/validate.schema.json), on one line.
std::string report_json(const Report& report);
/// SARIF 2.1.0, for code scanning. Paths become relative URI references, so they should be relative
/// to the top of the repository. `version` is the version of baton.
std::string report_sarif(const Report& report, std::string_view version);
/// JUnit XML with one test case per file: `error` when the file is not JSON or cannot be read,
/// `failure` for other errors; a file with only warnings passes.
std::string report_junit(const Report& report);
/// Workflow commands of GitHub Actions for the first ten errors and warnings (GitHub shows no
/// more), and a plain list of all findings.
std::string report_github(const Report& report);

/// The lines of a text for people, none of which the runner of GitHub Actions takes for a command.
std::string without_workflow_commands(const std::string& text);

/// The message of a finding, with a suggestion if there is one.
std::string sentence(const Finding& finding);
/// The same with the JSON pointer in front, unless the finding is about the whole document.
std::string sentence_at_pointer(const Finding& finding);
/// A path as text, with bytes that are not UTF-8 escaped.
std::string_view severity_word(const Finding& finding);
/// `path:line:column: error: pointer: sentence [rule]`. `severity`: that word as it is shown.
std::string finding_line(const std::string& path, const Finding& finding,
                         std::string_view severity);
std::string path_text(const std::string& path);

/// The line in which the span begins, and below it a line with `^~~~`, cut to the width of a
/// terminal. Nothing when the span is outside the text. Control characters become `?`.
std::string excerpt(std::string_view text, const Span& span);

}  // namespace baton
