// SPDX-License-Identifier: Apache-2.0
#include "base/json/position_finder.h"

#include <algorithm>
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

/// Reads the escape at `at` (after the backslash) and returns its end.
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

/// Calls `part` for each member or item of the object or array at `at`, with its index. `part`
/// knows the name and the beginning of the value, and returns the end of the value. Returns the end
/// of the whole.
template <class Part>
std::size_t for_each_part(std::string_view text, std::size_t at, const Part& part) {
  if (at >= text.size() || (text[at] != '{' && text[at] != '['))
    return value_at(text, at).end;
  const bool object = text[at] == '{';
  at = skip_blanks(text, at + 1);
  for (std::size_t index = 0; at < text.size() && text[at] != '}' && text[at] != ']'; ++index) {
    Item item;
    if (object) {
      item.name = value_at(text, at);
      at = skip_blanks(text, item.name->end) + 1;  // behind the colon
    }
    item.value.begin = skip_blanks(text, at);
    at = skip_blanks(text, part(item, index));
    if (at < text.size() && text[at] == ',')
      at = skip_blanks(text, at + 1);
  }
  return at < text.size() ? at + 1 : at;
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
  (void)for_each_part(text, skip_blanks(text, at), [&](Item item, std::size_t) {
    item.value = value_at(text, item.value.begin);
    items.push_back(item);
    return item.value.end;
  });
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

namespace {

/// Walks over a text once and notes the places of all paths.
class Finder {
 public:
  Finder(std::string_view text, std::span<const Path> paths)
      : text_(text), paths_(paths), found_(paths.size()) {
    for (std::size_t i = 0; i < paths.size(); ++i)
      order_.push_back(i);
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t one, std::size_t other) { return paths[one] < paths[other]; });
  }

  std::vector<std::optional<Item>> run(std::size_t at) {
    item({.name = std::nullopt, .value = {.begin = skip_blanks(text_, at), .end = 0}}, order_, 0);
    return std::move(found_);
  }

 private:
  /// Paths that are the same up to a depth, in order.
  using Range = std::span<const std::size_t>;

  /// Returns the end of the value. Recursive; the text was parsed, so its depth is limited.
  std::size_t item(Item here, Range range, std::size_t depth) {
    Range deeper = range;
    while (!deeper.empty() && paths_[deeper.front()].size() == depth)
      deeper = deeper.subspan(1);
    here.value.end = deeper.empty() ? value_at(text_, here.value.begin).end
                                    : parts(here.value.begin, deeper, depth);
    for (const std::size_t path : range.first(range.size() - deeper.size()))
      found_[path] = here;
    return here.value.end;
  }

  std::size_t parts(std::size_t at, Range range, std::size_t depth) {
    return for_each_part(text_, at, [&](const Item& part, std::size_t index) {
      const std::string token = part.name ? name(*part.name) : std::to_string(index);
      return item(part, with(range, token, depth), depth + 1);
    });
  }

  std::string name(const Extent& extent) const {
    return unquote(text_.substr(extent.begin, extent.end - extent.begin));
  }

  Range with(Range range, const std::string& token, std::size_t depth) const {
    const auto [begin, end] =
        std::equal_range(range.begin(), range.end(), Token{token, depth, paths_}, Token::kLess);
    return {begin, end};
  }

  /// Compares a token with the one at a depth of a path.
  struct Token {
    const std::string& text;
    std::size_t depth;
    std::span<const Path> paths;
    struct Less {
      bool operator()(const Token& token, std::size_t path) const {
        return token.text < token.paths[path][token.depth];
      }
      bool operator()(std::size_t path, const Token& token) const {
        return token.paths[path][token.depth] < token.text;
      }
    };
    static constexpr Less kLess{};
  };

  std::string_view text_;
  std::span<const Path> paths_;
  std::vector<std::optional<Item>> found_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::optional<Item>> find_all(std::string_view text, std::size_t at,
                                          std::span<const Path> paths) {
  return Finder(text, paths).run(at);
}

std::optional<Item> find(std::string_view text, std::size_t at,
                         std::span<const std::string> tokens) {
  const Path path(tokens.begin(), tokens.end());
  return find_all(text, at, std::span(&path, 1)).front();
}

}  // namespace baton::scan
