// SPDX-License-Identifier: Apache-2.0
#include "core/flow.h"

#include "base/text.h"

namespace baton {

std::string text(const FlowId& flow) {
  return flow.dialect + "/" + flow.name;
}

std::optional<FlowId> parse_flow(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size())
    return std::nullopt;
  return FlowId{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::string command(std::string_view verb, const FlowId& flow, std::string_view subject) {
  return "baton " + std::string(verb) + " " + shell_word(text(flow)) +
         (subject.empty() || subject == "main" ? "" : " " + shell_word(subject));
}

std::string text(const Key& key) {
  return text(key.flow) + " " + key.role + " " + key.subject + " #" +
         std::to_string(key.generation) + "." + std::to_string(key.turn);
}

}  // namespace baton
