// SPDX-License-Identifier: Apache-2.0
#include "base/shell_line.h"

#include <algorithm>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::string_view kBlanks = " \t\n";
/// What a backslash escapes within double quotes.
constexpr std::string_view kEscapedInQuotes = "\\\"$`";

/// Reads the line character by character.
class LineReader {
 public:
  explicit LineReader(std::string_view breaks) : breaks_(breaks) {}

  void take(char c) {
    if (escaped_)
      return take_escaped(c);
    if (c == '\\' && line_.quote != '\'') {
      escaped_ = true;
      return;
    }
    if (line_.quote != '\0')
      return c == line_.quote ? switch_quote('\0') : add(c);
    if (c == '\'' || c == '"')
      return switch_quote(c);
    if (kBlanks.find(c) != std::string_view::npos)
      return end_word();
    add(c);
    if (breaks_.find(c) != std::string_view::npos)
      line_.kept = line_.words.back().size();
  }

  ShellLine line() && { return std::move(line_); }

 private:
  void add(char c) {
    line_.words.back() += c;
    begun_ = true;
  }
  void take_escaped(char c) {
    escaped_ = false;
    if (line_.quote == '"' && kEscapedInQuotes.find(c) == std::string_view::npos)
      add('\\');
    add(c);
  }
  void switch_quote(char quote) {
    line_.quote = quote;
    line_.kept = line_.words.back().size();
    begun_ = true;
  }
  void end_word() {
    if (begun_)
      line_.words.emplace_back();
    begun_ = false;
    line_.kept = 0;
  }

  std::string_view breaks_;
  ShellLine line_;
  bool escaped_ = false;
  bool begun_ = false;  ///< the last word has a character, or at least a quote
};

bool is_plain(char c) {
  static constexpr std::string_view kMore = "._/-@:+,=%";
  return is_letter(c) || is_digit(c) || !is_ascii(c) || kMore.find(c) != std::string_view::npos;
}

}  // namespace

ShellLine read_shell_line(std::string_view line, std::string_view breaks) {
  LineReader reader(breaks);
  for (const char c : line)
    reader.take(c);
  return std::move(reader).line();
}

std::optional<std::string> quoted_behind(char quote, std::string_view text) {
  // An interactive bash expands `!` within double quotes, and a backslash before it stays. And it
  // does not close a quote behind a name that ends with that quote.
  const std::string_view never = quote == '\'' ? "'" : quote == '"' ? "!\"" : "";
  if (text.find_first_of(never) != std::string_view::npos)
    return std::nullopt;
  std::string out;
  for (const char c : text) {
    const bool escape = quote == '"'    ? kEscapedInQuotes.find(c) != std::string_view::npos
                        : quote == '\0' ? !is_plain(c)
                                        : false;
    if (escape)
      out += '\\';
    out += c;
  }
  return out;
}

}  // namespace baton
