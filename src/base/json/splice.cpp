// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json/json.h"
#include "base/json/parse.h"
#include "base/json/position_finder.h"
#include "base/text.h"

namespace baton::json {
namespace {

using scan::Extent;
using scan::Item;

std::string_view part(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

bool breaks_line(std::string_view blanks) {
  return blanks.find('\n') != std::string_view::npos;
}

std::string replaced(std::string_view text, Extent extent, std::string_view by) {
  return std::string(text.substr(0, extent.begin)) + std::string(by) +
         std::string(text.substr(extent.end));
}

std::size_t begin_of(const Item& item) {
  return item.name ? item.name->begin : item.value.begin;
}

/// An object or array that an edit goes into.
struct Container {
  Extent extent;
  std::vector<Item> items;
};

/// The separator before a member, copied from the last (or only) member.
std::string_view lead(std::string_view text, const Container& container) {
  const std::size_t end = begin_of(container.items.back());
  const std::size_t previous = container.items.size() > 1
                                   ? container.items[container.items.size() - 2].value.end
                                   : container.extent.begin;
  const std::size_t begin = part(text, 0, end).find_last_of(",{[");
  return part(text, std::max(begin + 1, previous), end);
}

/// The text between name and value.
std::string_view colon(std::string_view text, const Container& container) {
  if (container.items.empty() || !container.items.back().name)
    return ": ";
  const Item& last = container.items.back();
  const std::string_view found = part(text, last.name->end, last.value.begin);
  return breaks_line(found) ? std::string_view(": ") : found;
}

/// The new content of an empty container. If the brackets are on different lines, the closing
/// bracket stays where it is and the new member is indented one step more.
std::string first_inside(std::string_view text, const Container& container,
                         const std::string& member) {
  const std::string_view inside = part(text, container.extent.begin + 1, container.extent.end - 1);
  if (!breaks_line(inside))
    return member;
  const std::string_view closing = inside.substr(inside.rfind('\n') + 1);
  const std::string_view end_of_line = inside.find('\r') == std::string_view::npos ? "\n" : "\r\n";
  const std::string_view step = closing.find('\t') == std::string_view::npos ? "  " : "\t";
  std::string out(end_of_line);
  out.append(closing).append(step).append(member).append(end_of_line).append(closing);
  return out;
}

std::string with_added(std::string_view text, const Container& container,
                       const std::string& member) {
  if (container.items.empty()) {
    const Extent inside{.begin = container.extent.begin + 1, .end = container.extent.end - 1};
    return replaced(text, inside, first_inside(text, container, member));
  }
  std::string between(lead(text, container));
  // A container with one member has no separator to copy; its colon shows whether it is compact.
  if (container.items.size() == 1 && !breaks_line(between)) {
    const bool compact = container.items.back().name && colon(text, container) == ":";
    between = compact ? "" : " ";
  }
  const std::size_t at = container.items.back().value.end;
  return replaced(text, {.begin = at, .end = at}, "," + between + member);
}

std::string with_removed(std::string_view text, const Container& container, std::size_t index) {
  const std::vector<Item>& items = container.items;
  if (items.size() == 1)
    return replaced(text, {container.extent.begin + 1, container.extent.end - 1}, "");
  if (index + 1 < items.size())
    return replaced(text, {begin_of(items[index]), begin_of(items[index + 1])}, "");
  return replaced(text, {items[index - 1].value.end, items[index].value.end}, "");
}

tl::unexpected<Error> leads_nowhere(const Edit& edit, const std::string& why) {
  return fail(Errc::schema, printable(edit.pointer, 200) + " cannot be set: " + why,
              "#" + edit.pointer);
}

std::string pointer_to(std::span<const std::string> tokens) {
  std::string pointer;
  for (const std::string& token : tokens)
    pointer += "/" + pointer_token(token);
  return pointer.empty() ? "the whole" : printable(pointer, 200);
}

/// The first token of a pointer that does not exist.
std::string missing(std::string_view text, std::size_t start, std::span<const std::string> tokens) {
  std::size_t there = 0;
  while (there < tokens.size() && scan::find(text, start, tokens.first(there + 1)))
    ++there;
  return "there is no " + pointer_to(tokens.first(std::min(there + 1, tokens.size())));
}

std::optional<std::size_t> position_of(std::string_view text, const Container& container,
                                       const std::string& token) {
  const auto found = scan::find(text, container.extent.begin, std::span(&token, 1));
  if (!found)
    return std::nullopt;
  for (std::size_t i = 0; i < container.items.size(); ++i)
    if (container.items[i].value == found->value)
      return i;
  return std::nullopt;
}

/// Changes one member or item of a container that exists.
Result<std::string> change(std::string_view text, const Container& container, const Edit& edit,
                           std::span<const std::string> way, const std::string& token) {
  const bool object = text[container.extent.begin] == '{';
  if (!object && text[container.extent.begin] != '[')
    return leads_nowhere(edit, pointer_to(way) + " is neither an object nor a list");
  const auto index = position_of(text, container, token);
  if (edit.text.empty())
    return index ? with_removed(text, container, *index) : std::string(text);
  if (index)
    return replaced(text, container.items[*index].value, edit.text);
  if (object)
    return with_added(text, container,
                      quote(token) + std::string(colon(text, container)) + edit.text);
  if (token == "-")
    return with_added(text, container, edit.text);
  const std::size_t count = container.items.size();
  return leads_nowhere(edit, (way.empty() ? "the list" : "the list " + pointer_to(way)) + " has " +
                                 std::to_string(count) + (count == 1 ? " item" : " items") +
                                 ", counted from 0 without zeros in front; `-` appends one");
}

Result<std::string> applied(std::string_view text, const Edit& edit) {
  auto tokens = pointer_tokens(edit.pointer);
  if (!tokens)
    return fail(Errc::schema, "not a JSON pointer: " + edit.pointer);
  if (!edit.text.empty()) {
    if (auto value = parse_json(edit.text); !value)
      return fail(Errc::parse, "not JSON: " + value.error().message, "#" + edit.pointer);
  }
  const std::size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (tokens->empty()) {
    if (edit.text.empty())
      return fail(Errc::schema, "the whole document cannot be removed", "#");
    return replaced(text, scan::value_at(text, start), edit.text);
  }
  const std::string last = std::move(tokens->back());
  tokens->pop_back();
  const auto parent = scan::find(text, start, *tokens);
  if (!parent)
    return leads_nowhere(edit, missing(text, start, *tokens));
  const Container container{.extent = parent->value,
                            .items = scan::items_at(text, parent->value.begin)};
  return change(text, container, edit, *tokens, last);
}

std::optional<std::string> by_members(std::string_view text, const std::vector<Edit>& edits);

Result<std::string> in_turn(std::string_view before, const std::vector<Edit>& edits) {
  constexpr std::size_t kFew = 8;
  if (edits.size() > kFew)
    if (auto done = by_members(before, edits))
      return *std::move(done);
  std::string text(before);
  for (const Edit& edit : edits) {
    auto changed = applied(text, edit);
    if (!changed)
      return pass_on(changed);
    text = std::move(*changed);
  }
  return text;
}

/// Each edit copies the text, so thousands of edits would be slow. Edits below different members of
/// an object or items of a list are independent: apply them one by one and copy the whole once.
/// Nothing when an edit is about the object or list itself, or leads nowhere.
std::optional<std::string> by_members(std::string_view text, const std::vector<Edit>& edits) {
  const std::size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const Extent whole = scan::value_at(text, start);
  if (text[whole.begin] != '{' && text[whole.begin] != '[')
    return std::nullopt;
  const std::vector<Item> items = scan::items_at(text, whole.begin);
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i)
    places.emplace(items[i].name
                       ? scan::unquote(part(text, items[i].name->begin, items[i].name->end))
                       : std::to_string(i),
                   i);
  std::map<std::size_t, std::vector<Edit>> below;
  for (const Edit& edit : edits) {
    const auto tokens = pointer_tokens(edit.pointer);
    const auto place = tokens && tokens->size() > 1 ? places.find(tokens->front()) : places.end();
    if (place == places.end())
      return std::nullopt;
    below[place->second].push_back({edit.pointer.substr(edit.pointer.find('/', 1)), edit.text});
  }
  std::string out;
  std::size_t done = 0;
  for (const auto& [index, its] : below) {
    const Extent& value = items[index].value;
    const auto changed = in_turn(part(text, value.begin, value.end), its);
    if (!changed)
      return std::nullopt;
    out.append(part(text, done, value.begin)).append(*changed);
    done = value.end;
  }
  return out.append(text.substr(done));
}

}  // namespace

Result<std::string> splice(std::string_view document_text, const std::vector<Edit>& edits) {
  if (auto document = parse_json(document_text); !document)
    return pass_on(document);
  return in_turn(document_text, edits);
}

}  // namespace baton::json
