// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/json/parse.h"
#include "base/json/position_finder.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

std::string_view one_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::max<std::size_t>(utf8_length(text, at), 1));
}

std::string character_at(std::string_view text, std::size_t at) {
  return "'" + printable(one_at(text, at)) + "'";
}

/// The expected thing; "" when the fault is something else.
std::string_view expected(SyntaxKind kind) {
  switch (kind) {
    case SyntaxKind::value:
      return "a value";
    case SyntaxKind::name:
      return "a member name in double quotes";
    case SyntaxKind::colon:
      return "':'";
    case SyntaxKind::object_end:
      return "',' or '}'";
    case SyntaxKind::array_end:
      return "',' or ']'";
    case SyntaxKind::number:
      return "a digit";
    case SyntaxKind::after_end:
      return "the end of the document";
    case SyntaxKind::string:
      break;
  }
  return {};
}

/// The last character before `at` that is not a blank, or NUL.
char before(std::string_view text, std::size_t at) {
  const std::size_t found = text.substr(0, at).find_last_not_of(" \t\r\n");
  return found == std::string_view::npos ? '\0' : text[found];
}

struct Unfinished {
  std::string_view what;
  std::size_t begin;
};

/// What is still open at the end of the text.
Unfinished unfinished(std::string_view text) {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '[') {
      open.push_back(at);
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    } else if (c == '"') {
      const std::size_t end = scan::value_at(text, at).end;
      if (end >= text.size() && (end == at + 1 || text.back() != '"'))
        return {.what = "a string", .begin = at};
      at = end - 1;
    }
  }
  if (open.empty())
    return {.what = "a value", .begin = 0};
  return {.what = text[open.back()] == '{' ? "an object" : "an array", .begin = open.back()};
}

ParseFault ends_early(std::string_view text) {
  ParseFault fault{.begin = text.size(), .end = text.size(), .incomplete = true};
  if (scan::skip_blanks(text, 0) == text.size()) {
    fault.message = "the text is empty";
    return fault;
  }
  const Unfinished open = unfinished(text);
  fault.message = "the text ends in the middle of " + std::string(open.what);
  if (open.what != "a value") {
    const std::size_t line =
        1 + static_cast<std::size_t>(std::count(
                text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open.begin), '\n'));
    fault.message += " that begins in line " + std::to_string(line);
  }
  return fault;
}

/// Whether the text ends in the middle of an escape.
bool cut_string(std::string_view text, std::size_t offset) {
  const std::string_view rest = text.substr(std::min(offset, text.size()));
  return rest.size() <= 12 &&
         rest.find_first_not_of("\\uU0123456789abcdefABCDEF") == std::string_view::npos;
}

struct WordHint {
  std::string_view word;
  std::string_view hint;
};
constexpr std::array kWordHints = {
    WordHint{"NaN", "; JSON has no such number"},
    WordHint{"Infinity", "; JSON has no such number"},
    WordHint{"nan", "; JSON has no such number"},
    WordHint{"inf", "; JSON has no such number"},
    WordHint{"undefined", "; use null"},
    WordHint{"None", "; use null"},
    WordHint{"True", "; use true"},
    WordHint{"False", "; use false"},
    WordHint{"NULL", "; use null"},
};

/// A bare word where a value should be. The parser may be in the middle of it.
ParseFault bare_word(std::string_view text, std::size_t offset) {
  std::size_t begin = std::min(offset, text.size());
  while (begin > 0 && is_letter(text[begin - 1]))
    --begin;
  std::size_t end = begin;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '_'))
    ++end;
  const std::string_view word = text.substr(begin, end - begin);
  ParseFault fault{.found = printable(word, 40),
                   .expected = std::string(expected(SyntaxKind::value)),
                   .begin = begin,
                   .end = end,
                   .definite = true};
  fault.message = "'" + printable(word, 40) + "' is not a JSON value";
  for (const WordHint& row : kWordHints)
    if (row.word == word)
      fault.message += row.hint;
  return fault;
}

std::string cause_in_value(std::string_view text, std::size_t at) {
  const char c = text[at];
  const char last = before(text, at);
  if ((c == ']' || c == '}') && last == ',')
    return "trailing comma before " + character_at(text, at);
  if (c == ',' || c == ']' || c == '}')
    return "a value is missing before " + character_at(text, at);
  if (c == '\'')
    return "strings take double quotes, not '";
  if (c == '/' || c == '#')
    return "JSON has no comments";
  if (c == '+')
    return "a number has no '+' in front";
  if (c == '.')
    return "a number needs a digit before '.'";
  return {};
}

std::string cause_in_name(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '}' && before(text, at) == ',')
    return "trailing comma before '}'";
  if (c == '/' || c == '#')
    return "JSON has no comments";
  return {};
}

/// Why something follows a complete value.
std::string cause_after_value(std::string_view text, std::size_t at) {
  const char c = text[at];
  const char last = at > 0 ? text[at - 1] : '\0';
  if (last == '0' && is_digit(c))
    return "a number has no leading zero";
  if (last == '0' && (c == 'x' || c == 'X'))
    return "JSON has no hexadecimal numbers";
  if (c == '/' || c == '#')
    return "JSON has no comments";
  return {};
}

std::string cause_in_string(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\n' || c == '\r')
    return "a line break in a string; the closing quote is missing, or it has to be written \\n";
  if (static_cast<unsigned char>(c) < 0x20)
    return "a control character in a string has to be escaped";
  return "a wrong escape in a string: " + printable(text.substr(at, 6));
}

/// The likely mistake behind a fault, used as its message; "" if there is none. Such a message does
/// not name what the grammar expects, because that would mislead: after a trailing comma, the
/// author wants no further member.
std::string cause(std::string_view text, SyntaxKind kind, std::size_t at) {
  switch (kind) {
    case SyntaxKind::value:
      return cause_in_value(text, at);
    case SyntaxKind::name:
      return cause_in_name(text, at);
    case SyntaxKind::string:
      return cause_in_string(text, at);
    case SyntaxKind::object_end:
    case SyntaxKind::array_end:
    case SyntaxKind::after_end:
      return cause_after_value(text, at);
    case SyntaxKind::colon:
    case SyntaxKind::number:
      break;
  }
  return {};
}

std::string not_expected(SyntaxKind kind) {
  if (kind == SyntaxKind::after_end)
    return "the text goes on after the end of the document: end expected";
  const char* const where = kind == SyntaxKind::colon    ? " after the member name"
                            : kind == SyntaxKind::number ? " in the number"
                                                         : "";
  return std::string(expected(kind)) + " is expected" + where;
}

}  // namespace

ParseFault syntax_fault(std::string_view text, SyntaxKind kind, std::size_t offset) {
  offset = std::min(offset, text.size());
  if (kind == SyntaxKind::string ? cut_string(text, offset) || offset == text.size()
                                 : scan::skip_blanks(text, offset) == text.size())
    return ends_early(text);
  const char last = offset > 0 ? text[offset - 1] : '\0';
  if (kind == SyntaxKind::value && is_letter(last))
    return bare_word(text, offset);
  if (kind == SyntaxKind::value && last == '-')
    kind = SyntaxKind::number;
  // A blank ends a number; in a string it does not matter.
  if (kind != SyntaxKind::string && kind != SyntaxKind::number)
    offset = scan::skip_blanks(text, offset);
  if (kind == SyntaxKind::value && is_letter(text[offset]))
    return bare_word(text, offset);
  const std::string_view one = one_at(text, offset);
  ParseFault fault{.message = cause(text, kind, offset),
                   .begin = offset,
                   .end = offset + one.size(),
                   // Text after the end may be the rest of a longer text that is being overwritten.
                   .definite = kind != SyntaxKind::after_end};
  if (fault.message.empty()) {
    fault.message = not_expected(kind) + ", not " + character_at(text, offset);
    fault.found = printable(one);
    fault.expected = expected(kind);
  }
  return fault;
}

}  // namespace baton
