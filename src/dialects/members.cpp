#include "dialects/members.h"

namespace baton {

std::string text_of(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

std::int64_t count_of(const Value& object, std::string_view name) {
  return json::integer(object, name).value_or(0);
}

std::string pretty_text(const Value* value) {
  return value == nullptr || value->IsNull() ? "" : Json(*value).pretty();
}

std::string list_lines(const std::vector<std::string>& items) {
  std::string lines;
  for (const std::string& item : items)
    lines += "- " + item + "\n";
  return lines;
}

}  // namespace baton
