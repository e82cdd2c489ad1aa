// SPDX-License-Identifier: Apache-2.0
#include "core/agent_text.h"

#include <algorithm>
#include <array>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/text.h"

namespace baton {
namespace {

/// The members that have text of the agent, and the members that lead to such text.
constexpr std::array kTextMembers = {"text", "result", "response", "content"};
constexpr std::array kNestedMembers = {"message", "content", "item", "part", "parts", "data"};
/// The events without text of the agent: prompts, tool calls and results, reasoning, and pieces of
/// texts that later come as a whole.
constexpr std::array kIgnoredTypes = {
    "user",      "user.message", "system",    "tool",     "tool_use",          "tool_result",
    "tool_call", "meta",         "reasoning", "thinking", "command_execution", "stream_event"};

template <class Names>
bool is_one_of(std::string_view word, const Names& names) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

class Texts {
 public:
  void add(const Value& value) {
    if (value.IsArray())
      for (const Value& item : value.GetArray())
        add(item);
    if (!value.IsObject() || is_one_of(json::text(value, "type").value_or(""), kIgnoredTypes) ||
        is_one_of(json::text(value, "role").value_or(""), kIgnoredTypes))
      return;
    for (const char* const name : kTextMembers)
      if (const auto text = json::text(value, name))
        say(*text, json::boolean(value, "delta").value_or(false));
    for (const char* const name : kNestedMembers)
      if (const Value* const inner = json::child(value, name))
        add(*inner);
  }
  void line(std::string_view text) {
    last_.clear();
    say(text, false);
    last_.clear();
  }
  std::string take() { return std::move(all_); }

 private:
  /// Adds a text on its own lines. Joins pieces of one text without a line break.
  void say(std::string_view text, bool piece) {
    // A result repeats the last answer.
    if (!piece && !text.empty() && text == last_)
      return;
    last_ = piece ? std::string() : std::string(text);
    if (!(piece && in_pieces_) && !all_.empty() && !all_.ends_with('\n'))
      all_ += '\n';
    all_ += text;
    in_pieces_ = piece;
  }

  std::string all_;
  std::string last_;  ///< the text that was added last, unless it was a piece
  bool in_pieces_ = false;
};

bool is_event(const Value& value) {
  return value.IsObject() &&
         (json::text(value, "type") || json::text(value, "role") || json::text(value, "response"));
}

/// The events in a line, or in the whole output. null if there are none.
Json events_in(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '['))
    return {};
  auto parsed = parse_json(text);
  if (!parsed)
    return {};
  const Value& root = **parsed;
  const bool events = is_event(root) || (root.IsArray() && !root.Empty() &&
                                         std::all_of(root.Begin(), root.End(), is_event));
  return events ? *std::move(parsed) : Json();
}

}  // namespace

std::string agent_text(std::string_view output) {
  Texts texts;
  if (const Json whole = events_in(output); !whole.is_null()) {
    texts.add(*whole);
    return texts.take();
  }
  for (const std::string& line : split(output, '\n')) {
    if (const Json events = events_in(line); !events.is_null())
      texts.add(*events);
    else
      texts.line(line);
  }
  return texts.take();
}

}  // namespace baton
