// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/utf8.h"
#include "findings/report.h"

namespace baton {
namespace {

// GitHub shows at most ten errors and ten warnings of a step.
constexpr std::size_t kShownOfEach = 10;

std::string escaped(std::string_view text, bool property) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = byte < 0x20 || byte == 0x7F;
    if (c == '%' || control || (property && (c == ':' || c == ',')))
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
    else
      out += c;
  }
  return out;
}

/// The offset of the first character that the runner does not cut off from the beginning of a line.
std::size_t after_blanks(std::string_view line) {
  constexpr std::u32string_view kBlanks =
      U" \t\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
      U"\u200a"
      U"\u2028\u2029\u202f\u205f\u3000";
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t length = utf8_length(line, at);
    if (length == 0 ||
        kBlanks.find(utf8_decode(line.substr(at, length))) == std::u32string_view::npos)
      break;
    at += length;
  }
  return at;
}

/// The runner also accepts `##[` anywhere in a line as a command of its older form.
std::string harmless(std::string text) {
  for (auto at = text.find("##["); at != std::string::npos; at = text.find("##[", at))
    text.insert(at + 2, " ");
  return text;
}

std::string command(const std::string& path, const Finding& finding) {
  const auto property = [](std::string_view name, std::size_t value) {
    return "," + std::string(name) + "=" + std::to_string(value);
  };
  const Span& span = finding.span;
  std::string text = "::" + std::string(severity_word(finding)) +
                     " file=" + escaped(path_text(path), true) + property("line", span.begin.line);
  // With a column, GitHub requires both ends on one line.
  if (span.end.line > span.begin.line)
    text += property("endLine", span.end.line);
  else if (span.end.column > span.begin.column)
    text += property("col", span.begin.column) + property("endColumn", span.end.column);
  else
    text += property("col", span.begin.column);
  text += ",title=" + escaped(finding.rule, true) + "::";
  return harmless(text + escaped(sentence_at_pointer(finding), false)) + "\n";
}

/// Begins with a dash, so that no path can look like a command.

}  // namespace

std::string without_workflow_commands(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    const std::size_t begin = after_blanks(line);
    if (std::string_view(line).substr(begin).starts_with("::"))
      line.replace(begin, 1, "\\x3a");
    line = harmless(std::move(line));
  }
  return join(lines, "\n");
}

std::string report_github(const Report& report) {
  std::string commands;
  std::string list;
  FindingCount seen;
  for (const Inspected& file : report.files)
    for (const Finding& finding : file.findings) {
      std::size_t& count = finding.severity == Severity::error ? seen.errors : seen.warnings;
      if (count++ < kShownOfEach)
        commands += command(file.path, finding);
      list += harmless("- " + finding_line(file.path, finding, severity_word(finding))) + "\n";
    }
  const auto beyond = [](std::size_t count) {
    return count > kShownOfEach ? count - kShownOfEach : 0;
  };
  if (const std::size_t more = beyond(seen.errors) + beyond(seen.warnings); more > 0)
    list += "... and " + std::to_string(more) + " of these without a mark of their own\n";
  return commands + list;
}

}  // namespace baton
