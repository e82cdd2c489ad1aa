#include "dialects/agent_run/printed.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/text.h"

namespace baton::agent_run {
namespace {

/// Members that hold what an agent says, or lead to it.
constexpr std::array kSaying = {"text", "result", "response", "content"};
constexpr std::array kLeading = {"message", "content", "item", "part", "parts"};
/// What is no word of the agent's: its orders, what its tools do and find, its thoughts, and pieces
/// of texts that come whole later.
constexpr std::array kOthers = {"user",        "system",    "tool_use", "tool_result",
                                "tool_call",   "reasoning", "thinking", "command_execution",
                                "stream_event"};

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
    if (!value.IsObject() || is_one_of(json::text(value, "type").value_or(""), kOthers) ||
        is_one_of(json::text(value, "role").value_or(""), kOthers))
      return;
    for (const char* const name : kSaying)
      if (const auto text = json::text(value, name))
        say(*text, json::boolean(value, "delta").value_or(false));
    for (const char* const name : kLeading)
      if (const Value* const inner = json::child(value, name))
        add(*inner);
  }
  void line(std::string_view text) { say(text, false); }
  std::string take() { return std::move(all_); }

 private:
  /// Pieces of one text go on where the last one ended.
  void say(std::string_view text, bool piece) {
    if (!(piece && in_pieces_) && !all_.empty() && !all_.ends_with('\n'))
      all_ += '\n';
    all_ += text;
    in_pieces_ = piece;
  }

  std::string all_;
  bool in_pieces_ = false;
};

bool is_event(const Value& value) {
  return value.IsObject() && (json::text(value, "type") || json::text(value, "response"));
}

/// A line of a stream, or all of an output that is one document; null when it is neither.
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

std::optional<std::string> marker_block(std::string_view output) {
  const std::vector<std::string> lines = split(output, '\n');
  const auto last = [&](std::string_view marker, std::size_t before) -> std::optional<std::size_t> {
    for (std::size_t i = before; i-- > 0;) {
      std::string_view line = lines[i];
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      if (line == marker)
        return i;
    }
    return std::nullopt;
  };
  const auto end = last("RUN_REPORT_JSON>>>", lines.size());
  const auto begin = end ? last("<<<RUN_REPORT_JSON", *end) : std::nullopt;
  if (!begin)
    return std::nullopt;
  return join(std::span(lines).subspan(*begin + 1, *end - *begin - 1), "\n");
}

}  // namespace

std::string spoken(std::string_view output) {
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

std::optional<std::string> printed_report(std::string_view output) {
  auto block = marker_block(output);
  return block ? block : marker_block(spoken(output));
}

}  // namespace baton::agent_run
