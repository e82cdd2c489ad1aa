// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "findings/report.h"

namespace baton {
namespace {

/// Escapes text for XML 1.0, which cannot represent most control characters.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : printable(text, 4 * text.size() + 1)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  // U+FFFE and U+FFFF are not XML characters.
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (auto at = out.find(none); at != std::string::npos; at = out.find(none, at))
      out.replace(at, none.size(), "?");
  return out;
}

enum class CaseOutcome { passed, failure, error };

bool hinders(const Finding& finding) {
  return finding.severity == Severity::error && (finding.rule == "json" || finding.rule == "file");
}

CaseOutcome outcome_of(const Inspected& file) {
  if (!has_error(file.findings))
    return CaseOutcome::passed;
  const bool unread = std::any_of(file.findings.begin(), file.findings.end(), hinders);
  return unread ? CaseOutcome::error : CaseOutcome::failure;
}

std::string all_lines(const Inspected& file) {
  std::string text;
  for (const Finding& finding : file.findings)
    text += xml(finding_line(file.path, finding, severity_word(finding))) + "\n";
  return text;
}

std::string test_case(const Inspected& file) {
  std::string text = "    <testcase classname=\"" + xml(file.kind.empty() ? "file" : file.kind) +
                     "\" name=\"" + xml(file.path) + "\"";
  if (file.findings.empty())
    return text + "/>\n";
  text += ">\n";
  const CaseOutcome outcome = outcome_of(file);
  if (outcome == CaseOutcome::passed)
    return text + "      <system-out>" + all_lines(file) + "</system-out>\n    </testcase>\n";
  const std::string element = outcome == CaseOutcome::error ? "error" : "failure";
  const auto first =
      std::find_if(file.findings.begin(), file.findings.end(),
                   [](const Finding& finding) { return finding.severity == Severity::error; });
  return text + "      <" + element + " message=\"" + xml(sentence(*first)) + "\" type=\"" +
         xml(first->rule) + "\">" + all_lines(file) + "</" + element + ">\n    </testcase>\n";
}

}  // namespace

std::string report_junit(const Report& report) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const Inspected& file : report.files) {
    cases += test_case(file);
    failures += outcome_of(file) == CaseOutcome::failure ? 1U : 0U;
    errors += outcome_of(file) == CaseOutcome::error ? 1U : 0U;
  }
  const std::string counts =
      "name=\"baton validate\" tests=\"" + std::to_string(report.files.size()) + "\" failures=\"" +
      std::to_string(failures) + "\" errors=\"" + std::to_string(errors) + "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts + ">\n  <testsuite " +
         counts + ">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace baton
