#include "base/scan.h"

#include <charconv>
#include <cstdint>

#include "base/utf8.h"

namespace baton::scan {
namespace {

std::size_t string_end(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && text[at] != '"')
    at += text[at] == '\\' ? 2U : 1U;
  return at < text.size() ? at + 1 : text.size();
}

char32_t hex_unit(std::string_view digits) {
  std::uint32_t unit = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  return unit;
}

char plain_escape(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

/// Reads the escape at `at` (behind the backslash) and returns where it ends.
std::size_t append_escape(std::string& out, std::string_view text, std::size_t at) {
  if (text[at] != 'u') {
    out += plain_escape(text[at]);
    return at + 1;
  }
  char32_t unit = hex_unit(text.substr(at + 1, 4));
  at += 5;
  if (unit >= 0xD800 && unit < 0xDC00 && at + 6 <= text.size()) {
    const char32_t low = hex_unit(text.substr(at + 2, 4));
    unit = 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00);
    at += 6;
  }
  utf8_append(out, unit);
  return at;
}

bool leads_to(const Item& item, std::string_view text, const std::string& token) {
  const std::string_view name = text.substr(item.name->begin, item.name->end - item.name->begin);
  const std::string_view inside = name.substr(1, name.size() - 2);
  if (inside.find('\\') == std::string_view::npos)
    return inside == token;
  return unquote(name) == token;
}

std::optional<std::size_t> index_of(const std::vector<Item>& items, std::string_view text,
                                    const std::string& token) {
  if (items.empty())
    return std::nullopt;
  if (!items.front().name) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
    const bool leading_zero = token.size() > 1 && token.front() == '0';
    if (error != std::errc() || end != token.data() + token.size() || leading_zero ||
        index >= items.size())
      return std::nullopt;
    return index;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    if (leads_to(items[i], text, token))
      return i;
  return std::nullopt;
}

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  const std::size_t found = text.find_first_not_of(" \t\r\n", at);
  return found == std::string_view::npos ? text.size() : found;
}

Extent value_at(std::string_view text, std::size_t at) {
  const std::size_t begin = skip_blanks(text, at);
  std::size_t end = begin;
  std::size_t depth = 0;
  while (end < text.size()) {
    const char c = text[end];
    if (c == '"') {
      end = string_end(text, end);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++end;
      continue;
    } else if (c == '}' || c == ']') {
      if (depth == 0)
        break;
      --depth;
      ++end;
    } else if (depth == 0) {
      end = text.find_first_of(" \t\r\n,]}", end);
      end = end == std::string_view::npos ? text.size() : end;
    } else {
      ++end;
      continue;
    }
    if (depth == 0)
      break;
  }
  return {.begin = begin, .end = end};
}

std::vector<Item> items_at(std::string_view text, std::size_t at) {
  std::vector<Item> items;
  at = skip_blanks(text, at);
  if (at >= text.size() || (text[at] != '{' && text[at] != '['))
    return items;
  const bool object = text[at] == '{';
  at = skip_blanks(text, at + 1);
  while (at < text.size() && text[at] != '}' && text[at] != ']') {
    Item item;
    if (object) {
      item.name = value_at(text, at);
      at = skip_blanks(text, item.name->end) + 1;  // behind the colon
    }
    item.value = value_at(text, at);
    at = skip_blanks(text, item.value.end);
    items.push_back(item);
    if (at < text.size() && text[at] == ',')
      at = skip_blanks(text, at + 1);
  }
  return items;
}

std::string unquote(std::string_view quoted) {
  std::string out;
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  std::size_t at = 0;
  while (at < inside.size()) {
    if (inside[at] == '\\' && at + 1 < inside.size())
      at = append_escape(out, inside, at + 1);
    else
      out += inside[at++];
  }
  return out;
}

std::optional<Item> find(std::string_view text, std::size_t at,
                         std::span<const std::string> tokens) {
  Item here{.name = std::nullopt, .value = value_at(text, at)};
  for (const std::string& token : tokens) {
    const std::vector<Item> items = items_at(text, here.value.begin);
    const auto index = index_of(items, text, token);
    if (!index)
      return std::nullopt;
    here = items[*index];
  }
  return here;
}

}  // namespace baton::scan
