#include "base/placeholders.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

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
    const std::string name(hole.name);
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
    filled.append(value->second);
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
      names.emplace_back(hole.name);
    at = hole.close + 1;
  }
  if (hole.open != std::string_view::npos)
    names.push_back(std::string(unclosed(text, hole)) + kNotClosed);
  return names;
}

}  // namespace baton
