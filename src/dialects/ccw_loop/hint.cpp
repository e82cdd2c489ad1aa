#include "dialects/ccw_loop/hint.h"

#include <algorithm>

#include "base/text.h"

namespace baton::ccw_loop {
namespace {

/// Blanks, and what Markdown sets words in.
constexpr std::string_view kDecoration = " \t\r*`";

constexpr std::string_view kHead = "ACTION_RESULT:";
constexpr std::string_view kNext = "NEXT_ACTION_NEEDED:";

/// Fills the member a bullet such as `- status: success` is about.
void read_bullet(std::string_view line, ResultBlock& block) {
  if (!line.starts_with("- "))
    return;
  line.remove_prefix(2);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos)
    return;
  const std::string_view name = trimmed(line.substr(0, colon), kDecoration);
  const std::string value(trimmed(line.substr(colon + 1), kDecoration));
  if (name == "action")
    block.action = value;
  else if (name == "status")
    block.status = value;
  else if (name == "message")
    block.message = value;
}

}  // namespace

ResultBlock result_block(std::string_view output) {
  ResultBlock block;
  while (!output.empty()) {
    const auto end = output.find('\n');
    const std::string_view line = trimmed(output.substr(0, end), kDecoration);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    if (line.starts_with(kHead)) {
      block = ResultBlock{};
      block.found = true;
      block.next = "NONE";
    } else if (block.found && line.starts_with(kNext)) {
      block.next = trimmed(line.substr(kNext.size()), kDecoration);
    } else if (block.found) {
      read_bullet(line, block);
    }
  }
  return block;
}

std::optional<Action> proposed(const ResultBlock& block) {
  const std::string& word = block.next;
  const bool upper =
      std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return upper ? parse_action(lower_case(word)) : std::nullopt;
}

}  // namespace baton::ccw_loop
