// SPDX-License-Identifier: Apache-2.0
#include "base/placeholders.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

/// How a value is written. The names are those of the filters.
struct Filter {
  std::string_view name;
  std::string (*write)(std::string_view value);
};
constexpr std::array<Filter, 2> kFilters = {{{"json", json_quoted}, {"data", fenced}}};

constexpr const char* kNotClosed = " (no closing brace)";

/// The next placeholder at or behind `at`.
struct Hole {
  std::size_t open = std::string_view::npos;
  std::size_t close = std::string_view::npos;  ///< npos: no placeholder, or it has no `}`
  bool literal = false;                        ///< `$${`: `open` is the first of the dollars
  std::string_view name;
};

Hole next_hole(std::string_view text, std::size_t at) {
  Hole hole;
  hole.open = text.find("${", at);
  if (hole.open == std::string_view::npos)
    return hole;
  if (hole.open > at && text[hole.open - 1] == '$') {
    --hole.open;
    hole.close = hole.open + 2;  // the brace
    hole.literal = true;
    return hole;
  }
  hole.close = text.find('}', hole.open);
  if (hole.close != std::string_view::npos)
    hole.name = text.substr(hole.open + 2, hole.close - hole.open - 2);
  return hole;
}

/// The filter in `NAME|FILTER`; nullptr: there is none, or it does not exist.
const Filter* filter_in(std::string_view inside) {
  const auto bar = inside.find('|');
  const auto* const found = std::find_if(kFilters.begin(), kFilters.end(), [&](const Filter& each) {
    return bar != std::string_view::npos && each.name == inside.substr(bar + 1);
  });
  return found == kFilters.end() ? nullptr : found;
}

/// `NAME|FILTER` without a filter that exists.
std::string_view name_in_hole(std::string_view inside) {
  return filter_in(inside) == nullptr ? inside : inside.substr(0, inside.find('|'));
}

void append_escaped(std::string& out, char32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U})
    out += kDigits[(static_cast<unsigned>(unit) >> shift) & 0xFU];
}

/// The character as `\uXXXX`, or as two of them.
void append_escaped_character(std::string& out, char32_t character) {
  constexpr char32_t kPlane = 0x10000;
  if (character < kPlane)
    return append_escaped(out, character);
  append_escaped(out, 0xD800 + ((character - kPlane) >> 10U));
  append_escaped(out, 0xDC00 + ((character - kPlane) & 0x3FFU));
}

/// The length of the longest run of backticks.
std::size_t longest_run(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// What to show as the name when the `}` is missing.
std::string_view unclosed(std::string_view text, const Hole& hole) {
  return hole.open == std::string_view::npos ? std::string_view() : text.substr(hole.open + 2);
}

/// The lines between empty lines, each block with a line feed at its end.
std::vector<std::string> blocks_of(std::string_view text) {
  std::vector<std::string> blocks(1);
  for (const std::string& line : split(text, '\n'))
    if (!trimmed(line).empty())
      blocks.back() += line + "\n";
    else if (!blocks.back().empty())
      blocks.emplace_back();
  std::erase(blocks, "");
  return blocks;
}

}  // namespace

std::string json_quoted(std::string_view value) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string out = "\"";
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t length = utf8_length(value, at);
    const std::string_view character = length == 0 ? kReplacement : value.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    if (character == "\n")
      out += "\\n";
    else if (character == "\t")
      out += "\\t";
    else if (character == "\"" || character == "\\")
      out.append("\\").append(character);
    else if (is_control(character))
      append_escaped_character(out, utf8_decode(character));
    else
      out += character;
  }
  return out + "\"";
}

std::string fenced(std::string_view value) {
  constexpr std::size_t kShortest = 3;
  value = value.substr(0, value.find_last_not_of('\n') + 1);
  if (value.empty())
    return {};
  const std::string fence(std::max(kShortest, longest_run(value) + 1), '`');
  return fence + "\n" + std::string(value) + "\n" + fence;
}

std::string filter_fault(std::string_view inside) {
  const auto bar = inside.find('|');
  if (bar == std::string_view::npos || filter_in(inside) != nullptr)
    return {};
  std::vector<std::string> names;
  for (const Filter& each : kFilters)
    names.emplace_back(each.name);
  const auto near = nearest(inside.substr(bar + 1), names);
  return "unknown filter `|" + printable(inside.substr(bar + 1), 80) + "` in `${" +
         printable(inside, 80) + "}`" +
         (near ? "; did you mean `|" + *near + "`?" : "; there are `|json` and `|data`");
}

Result<std::string> fill(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string filled;
  std::size_t at = 0;
  Hole hole = next_hole(text, at);
  for (; hole.close != std::string_view::npos; hole = next_hole(text, at)) {
    filled.append(text.substr(at, hole.open - at));
    at = hole.close + 1;
    if (hole.literal) {
      filled.append("${");
      continue;
    }
    if (const std::string fault = filter_fault(hole.name); !fault.empty())
      return fail(Errc::config, fault);
    const std::string name(name_in_hole(hole.name));
    const auto value = values.find(name);
    if (value == values.end()) {
      std::vector<std::string> names;
      names.reserve(values.size());
      for (const auto& [known, ignored] : values)
        names.push_back(known);
      const auto near = nearest(name, names);
      return fail(Errc::config, "unknown placeholder `${" + printable(name, 80) + "}`" +
                                    (near ? "; did you mean `${" + *near + "}`?"
                                          : "; `$${` stands for a literal `${`"));
    }
    const Filter* const filter = filter_in(hole.name);
    filled.append(filter == nullptr ? value->second : filter->write(value->second));
  }
  if (hole.open != std::string_view::npos)
    return fail(Errc::config, "`${" + printable(unclosed(text, hole), 80) +
                                  "` has no `}`; `$${` stands for a literal `${`");
  return filled.append(text.substr(std::min(at, text.size())));
}

Result<std::string> fill_blocks(std::string_view text, std::map<std::string, std::string> values) {
  for (auto& [name, value] : values)
    value.erase(value.find_last_not_of('\n') + 1);
  std::vector<std::string> kept;
  std::string heading;
  for (const std::string& block : blocks_of(text)) {
    auto filled = fill(block, values);
    if (!filled)
      return filled;
    const auto names = placeholders_in(block);
    if (block.starts_with("## ") && block.find('\n') == block.size() - 1)
      heading = *filled + "\n";
    else if (names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
               return !values.at(name).empty();
             }))
      kept.push_back(std::exchange(heading, {}) + *filled);
  }
  return join(kept, "\n");
}

std::vector<std::string> placeholders_in(std::string_view text) {
  std::vector<std::string> names;
  std::size_t at = 0;
  Hole hole = next_hole(text, at);
  for (; hole.close != std::string_view::npos; hole = next_hole(text, at)) {
    if (!hole.literal)
      names.emplace_back(name_in_hole(hole.name));
    at = hole.close + 1;
  }
  if (hole.open != std::string_view::npos)
    names.push_back(std::string(unclosed(text, hole)) + kNotClosed);
  return names;
}

}  // namespace baton
