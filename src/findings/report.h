#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"

namespace baton {

/// What `validate` found in one file.
struct Inspected {
  std::string path;  ///< as it was named
  std::string kind;  ///< `coordination/pm_state`; empty where nothing says
  Findings findings;
  std::string text;  ///< of the file; kept only for those who show the lines of its findings
};

/// The outcome of one `validate`, in the order in which the files were looked at.
struct Report {
  std::vector<Inspected> files;
  std::size_t checked = 0;
  std::size_t skipped = 0;  ///< named or staged, but of no known kind
};

struct FindingCount {
  std::size_t errors = 0;
  std::size_t warnings = 0;
  bool operator==(const FindingCount&) const = default;
};
FindingCount count_of(const Report& report);

/// One finding as an object, as `findings` of `baton/validate/v1` hold it.
Json finding_json(const std::string& path, const Finding& finding);
/// `baton/validate/v1`, as schemas/output/validate.schema.json says; one line.
std::string report_json(const Report& report);
/// SARIF 2.1.0: for code scanning. Paths become relative URI references, so they should be relative
/// to the top of the repository. `version` is ours.
std::string report_sarif(const Report& report, std::string_view version);
/// JUnit XML: one test case a file; a file that is no JSON or cannot be read is an `error`, another
/// with errors a `failure`, one with warnings alone passes.
std::string report_junit(const Report& report);
/// Workflow commands of GitHub Actions for the first findings, since only ten errors and ten
/// warnings of a step are shown, and a plain list of them all.
std::string report_github(const Report& report);

/// The message of a finding with what was probably meant.
std::string sentence(const Finding& finding);
/// The same behind the pointer of what is meant, unless that is the whole document.
std::string sentence_at_pointer(const Finding& finding);
/// A path as text: bytes that are no UTF-8 are escaped, everything else stays.
std::string path_text(const std::string& path);

/// The line in which the span begins and a line of `^~~~` below it, cut to what a terminal shows;
/// nothing when the span lies outside of the text. Control characters become `?`.
std::string excerpt(std::string_view text, const Span& span);

}  // namespace baton
