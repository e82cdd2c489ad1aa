#include "findings/report.h"

#include "base/json/json.h"
#include "base/text.h"

namespace baton {
FindingCount count_of(const Report& report) {
  FindingCount count;
  for (const Inspected& file : report.files)
    for (const Finding& finding : file.findings)
      ++(finding.severity == Severity::error ? count.errors : count.warnings);
  return count;
}

std::string sentence(const Finding& finding) {
  return finding.suggestion.empty()
             ? finding.message
             : finding.message + "; did you mean " + printable(finding.suggestion, 200) + "?";
}

std::string sentence_at_pointer(const Finding& finding) {
  return finding.pointer.empty() ? sentence(finding)
                                 : printable(finding.pointer, 200) + ": " + sentence(finding);
}

std::string_view severity_word(const Finding& finding) {
  return finding.severity == Severity::error ? "error" : "warning";
}

std::string finding_line(const std::string& path, const Finding& finding,
                         std::string_view severity) {
  return printable(path) + ":" + std::to_string(finding.span.begin.line) + ":" +
         std::to_string(finding.span.begin.column) + ": " + std::string(severity) + ": " +
         sentence_at_pointer(finding) + " [" + finding.rule + "]";
}

std::string path_text(const std::string& path) {
  return bad_utf8(path) ? printable(path, 4 * path.size()) : path;
}

Json finding_json(const std::string& path, const Finding& finding) {
  return Json::object({{"path", path_text(path)},
                       {"line", finding.span.begin.line},
                       {"column", finding.span.begin.column},
                       {"end_line", finding.span.end.line},
                       {"end_column", finding.span.end.column},
                       {"pointer", finding.pointer},
                       {"schema_pointer", finding.schema_pointer},
                       {"severity", severity_word(finding)},
                       {"rule", finding.rule},
                       {"message", finding.message},
                       {"found", finding.found},
                       {"expected", finding.expected},
                       {"suggestion", finding.suggestion}});
}

std::string report_json(const Report& report) {
  Json findings = Json::array();
  for (const Inspected& file : report.files)
    for (const Finding& finding : file.findings)
      findings.push(finding_json(file.path, finding));
  return Json::object({{"schema", "baton/validate/v1"},
                       {"checked", report.checked},
                       {"skipped", report.skipped},
                       {"findings", findings}})
             .dump() +
         "\n";
}

}  // namespace baton
