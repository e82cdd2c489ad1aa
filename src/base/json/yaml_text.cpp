#include "base/json/yaml_text.h"

#include <algorithm>

#include "base/json/parse.h"
#include "base/text.h"

namespace baton::yaml {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// Behind the closing mark; nothing when there is none.
std::optional<std::size_t> single_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = text.find('\'', begin); at != std::string_view::npos;
       at = text.find('\'', at + 2))
    if (!text.substr(at + 1).starts_with('\''))
      return at + 1;
  return std::nullopt;
}

/// What may follow a backslash in double quotes.
bool is_escape(char c) {
  constexpr std::string_view kEscapes = "0abt\tnvfre \"/\\N_LPxuU\r\n";
  return kEscapes.find(c) != std::string_view::npos;
}

}  // namespace

std::size_t content_begin(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (kBlanks.find(c) != std::string_view::npos)
      at = text.find_first_not_of(kBlanks, at);
    else if (c == '#')
      at = text.find('\n', at);
    else if (c == '&' || c == '!')
      at = text.find_first_of(kBlanks, at);
    else
      break;
  }
  return std::min(at, text.size());
}

std::optional<TextFault> directive_fault(std::string_view text) {
  const std::size_t mark = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::size_t begin = content_begin(text, mark);
  const bool in_front = begin == mark || (begin > 0 && text[begin - 1] == '\n');
  if (!in_front || !text.substr(begin).starts_with('%') ||
      text.find("\n---", begin) != std::string_view::npos)
    return std::nullopt;
  return TextFault{begin, "a line that begins with % is a directive, and --- has to follow it"};
}

std::optional<TextFault> quotation_fault(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with('"') && !rest.starts_with('\''))
    return std::nullopt;
  std::optional<std::size_t> end;
  if (rest.starts_with('\'')) {
    end = single_end(text, at + 1);
  } else {
    std::size_t mark = text.find_first_of("\"\\", at + 1);
    while (mark < text.size() && text[mark] == '\\') {
      if (mark + 1 < text.size() && !is_escape(text[mark + 1]))
        return TextFault{mark, printable(text.substr(mark, 2)) + " is no escape of YAML"};
      mark = text.find_first_of("\"\\", mark + 2);
    }
    if (mark < text.size())
      end = mark + 1;
  }
  if (!end)
    return TextFault{
        at, std::string("the quotation that begins here has no end; ") + text[at] + " is missing"};
  if (text.substr(*end).starts_with('#'))
    return TextFault{*end, "a comment has to have a blank in front of it"};
  return std::nullopt;
}

}  // namespace baton::yaml
