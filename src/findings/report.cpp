// SPDX-License-Identifier: Apache-2.0
#include "findings/report.h"

#include <algorithm>

#include "base/json/parse.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

constexpr std::size_t kBefore = 60;  // characters before the place
constexpr std::size_t kShown = 100;  // characters of a line in all

/// The characters of a line, one string each, made safe for a terminal.
std::vector<std::string> characters(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = utf8_length(line, at);
    const std::size_t taken = std::max<std::size_t>(length, 1);
    const std::string_view piece = line.substr(at, taken);
    if (piece == "\t")
      out.emplace_back(" ");
    else
      out.emplace_back(length == 0 || is_control(piece) ? "?" : piece);
    at += taken;
  }
  return out;
}

}  // namespace
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

std::string excerpt(std::string_view text, const Span& span) {
  if (span.begin.offset > text.size())
    return {};
  std::size_t begin = text.substr(0, span.begin.offset).rfind('\n');
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (begin == 0 && line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  const std::vector<std::string> all = characters(line);
  const std::size_t caret = std::min(span.begin.column - 1, all.size());
  const std::size_t until =
      span.end.line == span.begin.line ? std::min(span.end.column - 1, all.size()) : all.size();
  const std::size_t first = caret > kBefore ? caret - kBefore : 0;
  const std::size_t last = std::min(all.size(), first + kShown);
  const std::string cut = first > 0 ? "..." : "";
  std::string shown = "  " + cut;
  for (std::size_t i = first; i < last; ++i)
    shown += all[i];
  if (last < all.size())
    shown += "...";
  const std::size_t marked = std::min(until, last) > caret ? std::min(until, last) - caret : 1;
  return shown + "\n  " + std::string(cut.size() + caret - first, ' ') + "^" +
         std::string(marked - 1, '~') + "\n";
}

}  // namespace baton
