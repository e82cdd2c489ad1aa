#include "dialects/members.h"

namespace baton {

std::string text_of(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

std::int64_t count_of(const Value& object, std::string_view name) {
  return json::integer(object, name).value_or(0);
}

}  // namespace baton
