// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>

#include "base/json/parse.h"
#include "base/json/yaml.h"
#include "base/text.h"

namespace baton::yaml {
namespace {

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` of the core schema.
bool is_float(std::string_view text) {
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  std::size_t mantissa = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0)
    return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-'))
      text.remove_prefix(1);
    if (digits() == 0)
      return false;
  }
  return text.empty();
}

bool is_special_float(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN")
    return true;
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

/// `[-+]? [0-9]+`, `0o [0-7]+`, `0x [0-9a-fA-F]+`.
bool is_integer(std::string_view text) {
  std::string_view digits = "0123456789";
  if (text.starts_with("0o") || text.starts_with("0x")) {
    digits = text[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF";
    text.remove_prefix(2);
  } else if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

/// The integer, if it fits into 64 bits.
std::optional<Json> integer_of(std::string_view digits, int base) {
  if (digits.starts_with('+'))
    digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), end, value, base);
  if (result.ec == std::errc() && result.ptr == end)
    return Json(value);
  std::uint64_t natural = 0;
  const auto second = std::from_chars(digits.data(), end, natural, base);
  if (second.ec == std::errc() && second.ptr == end)
    return Json(natural);
  return std::nullopt;
}

tl::expected<Json, std::string> float_of(std::string_view text) {
  // std::from_chars refuses a '+' in front. It accepts ".5" and "1.".
  const std::string_view spelled = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto result = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
  if (result.ec == std::errc())
    return Json(value);
  if (too_small(spelled))
    return Json(0.0);
  return tl::unexpected("the number " + printable(text, 40) + " is too large");
}

/// Nothing: not a number.
std::optional<tl::expected<Json, std::string>> number_of(std::string_view text) {
  if (is_integer(text)) {
    const bool prefixed = text.starts_with("0o") || text.starts_with("0x");
    const int base = !prefixed ? 10 : text[1] == 'o' ? 8 : 16;
    if (auto integer = integer_of(prefixed ? text.substr(2) : text, base))
      return std::move(*integer);
    if (prefixed)
      return tl::unexpected("the number " + printable(text, 40) + " is too large");
  }
  if (!is_float(text))
    return std::nullopt;
  return float_of(text);
}

bool one_of(std::string_view text, std::string_view a, std::string_view b, std::string_view c) {
  return text == a || text == b || text == c;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || one_of(text, "null", "Null", "NULL");
}

bool is_bool(std::string_view text) {
  return one_of(text, "true", "True", "TRUE") || one_of(text, "false", "False", "FALSE");
}

/// `yes`, `no`, `on` and `012:30` are strings, as in YAML 1.2.
tl::expected<Json, std::string> plain(std::string_view text) {
  if (is_null(text))
    return Json();
  if (is_bool(text))
    return Json(text[0] == 't' || text[0] == 'T');
  if (is_special_float(text))
    return tl::unexpected("the number " + std::string(text) + " cannot be written in JSON");
  if (auto number = number_of(text))
    return std::move(*number);
  return Json(text);
}

constexpr std::string_view kPrefix = "tag:yaml.org,2002:";

struct TagRow {
  std::string_view name;  ///< after the prefix
  std::string_view what;
  bool (*fits)(std::string_view text);  ///< checks the spelling; null: not a scalar
};
constexpr std::array kTags = {
    TagRow{"str", "string", [](std::string_view) { return true; }},
    TagRow{"int", "integer", is_integer},
    TagRow{"float", "number",
           [](std::string_view text) { return is_float(text) || is_special_float(text); }},
    TagRow{"bool", "boolean", is_bool},
    TagRow{"null", "null", is_null},
    TagRow{"seq", "array", nullptr},
    TagRow{"map", "object", nullptr},
};

const TagRow* row_of(std::string_view tag) {
  if (!tag.starts_with(kPrefix))
    return nullptr;
  const auto* const row = std::find_if(kTags.begin(), kTags.end(), [&](const TagRow& each) {
    return each.name == tag.substr(kPrefix.size());
  });
  return row == kTags.end() ? nullptr : row;
}

/// The tag as people write it.
std::string shown(std::string_view tag) {
  return tag.starts_with(kPrefix) ? printable("!!" + std::string(tag.substr(kPrefix.size())), 100)
                                  : printable(tag, 100);
}

std::string unknown(std::string_view tag) {
  std::vector<std::string> names;
  names.reserve(kTags.size());
  for (const TagRow& row : kTags)
    names.push_back("!!" + std::string(row.name));
  return "the tag " + shown(tag) + " is not known; YAML's own are " + join(names, ", ");
}

}  // namespace

tl::expected<Json, std::string> scalar(std::string_view text, std::string_view tag) {
  if (tag.empty() || tag == "?")
    return plain(text);
  if (tag == "!")
    return Json(text);
  const TagRow* const row = row_of(tag);
  if (row == nullptr)
    return tl::unexpected(unknown(tag));
  if (row->fits == nullptr)
    return tl::unexpected("a scalar is not of type " + std::string(row->what) + " (" + shown(tag) +
                          ")");
  if (!row->fits(text))
    return tl::unexpected(printable(json::quote(text), 100) + " is not of type " +
                          std::string(row->what) + " (" + shown(tag) + ")");
  if (row->name == "str")
    return Json(text);
  auto value = plain(text);
  if (value && row->name == "float")
    return Json((**value).GetDouble());
  return value;
}

std::optional<std::string> collection_fault(std::string_view tag, std::string_view kind) {
  if (tag.empty() || tag == "?" || tag == "!")
    return std::nullopt;
  const TagRow* const row = row_of(tag);
  if (row == nullptr)
    return unknown(tag);
  if (row->name == kind)
    return std::nullopt;
  return std::string(kind == "seq" ? "an array" : "an object") + " is not of type " +
         std::string(row->what) + " (" + shown(tag) + ")";
}

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// The offset after the closing quote; nothing when there is none.
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
  return TextFault{begin, "a line that begins with % is a directive, so --- must follow it"};
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
        return TextFault{mark, printable(text.substr(mark, 2)) + " is not an escape of YAML"};
      mark = text.find_first_of("\"\\", mark + 2);
    }
    if (mark < text.size())
      end = mark + 1;
  }
  if (!end)
    return TextFault{
        at, std::string("the quotation that begins here has no end; ") + text[at] + " is missing"};
  if (text.substr(*end).starts_with('#'))
    return TextFault{*end, "a comment needs a space before it"};
  return std::nullopt;
}

}  // namespace baton::yaml
