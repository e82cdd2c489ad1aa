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
  const auto word = [](const std::string& each) {
    return each.find_first_not_of(
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
               "._/-") == std::string::npos
               ? each
               : shell_quoted(each);
  };
  return "baton " + std::string(verb) + " " + word(text(flow)) +
         (subject.empty() || subject == "main" ? "" : " " + word(std::string(subject)));
}

std::string text(const Key& key) {
  return text(key.flow) + " " + key.role + " " + key.subject + " #" +
         std::to_string(key.generation) + "." + std::to_string(key.turn);
}

}  // namespace baton
