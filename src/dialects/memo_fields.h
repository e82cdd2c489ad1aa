// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes structs as JSON members. Dialects use it for their memo and for records of
// files.
// A struct names its members once, in `template <class Visit> void fields(Memo& memo, Visit visit)`
// beside it. `read_memo` and `write_memo` use that list. A member that is missing, null or of
// another type keeps its default, so that a newer baton can read what an older one wrote. An
// enumeration is stored as its word. The function `const auto& word_table(Enum)` beside it gives
// the table of words.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json/json.h"
#include "dialects/tables.h"

namespace baton {

struct AnyField {
  template <class T>
  void operator()(std::string_view /*name*/, T& /*member*/) const {}
};
template <class T>
concept HasFields = requires(T& value) {
  fields(value, AnyField{});
};

template <class T>
requires std::is_arithmetic_v<T>
void read_memo(const Value& value, T& to) {
  if constexpr (std::same_as<T, bool>)
    to = json::boolean(value).value_or(to);
  else if constexpr (std::floating_point<T>)
    to = value.IsNumber() ? value.GetDouble() : to;
  else if (const auto number = json::integer(value); number && std::in_range<T>(*number))
    to = static_cast<T>(*number);
}
inline void read_memo(const Value& value, std::string& to) {
  to = std::string(json::text(value).value_or(to));
}
inline void read_memo(const Value& value, Json& to) {
  if (!value.IsNull())
    to = Json(value);
}
template <class T>
requires std::is_enum_v<T>
void read_memo(const Value& value, T& to) {
  const auto& table = word_table(to);
  if (const auto* const row = row_of(table, json::text(value).value_or("")))
    to = static_cast<T>(row - table.data());
}
template <class T, std::size_t kSize>
void read_memo(const Value& value, std::array<T, kSize>& to) {
  for (std::size_t i = 0; value.IsArray() && i < kSize && i < value.Size(); ++i)
    read_memo(value[static_cast<rapidjson::SizeType>(i)], to.at(i));
}
template <class T>
void read_memo(const Value& value, std::optional<T>& to);
template <class T>
void read_memo(const Value& value, std::vector<T>& to);
template <class T>
void read_memo(const Value& value, std::set<T>& to);
template <class T, class Less>
void read_memo(const Value& value, std::map<std::string, T, Less>& to);
template <HasFields T>
void read_memo(const Value& value, T& to) {
  fields(to, [&](std::string_view name, auto& member) {
    if (const Value* const found = json::child(value, name))
      read_memo(*found, member);
  });
}
template <class T>
void read_memo(const Value& value, std::optional<T>& to) {
  if (!value.IsNull())
    read_memo(value, to.emplace());
}
template <class T>
void read_memo(const Value& value, std::vector<T>& to) {
  if (value.IsArray())
    for (const Value& item : value.GetArray())
      read_memo(item, to.emplace_back());
}
template <class T>
void read_memo(const Value& value, std::set<T>& to) {
  std::vector<T> items;
  read_memo(value, items);
  to.insert(items.begin(), items.end());
}
template <class T, class Less>
void read_memo(const Value& value, std::map<std::string, T, Less>& to) {
  if (value.IsObject())
    for (const auto& member : value.GetObject())
      read_memo(member.value, to[std::string(json::name(member.name))]);
}

template <class T>
Json write_memo(const T& value) {
  if constexpr (HasFields<T>) {
    Json json = Json::object();
    // write_memo only reads the members, so it does not change the const value.
    T& members = const_cast<T&>(value);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    fields(members,
           [&](std::string_view name, const auto& member) { json.set(name, write_memo(member)); });
    return json;
  } else if constexpr (std::same_as<T, bool> || std::floating_point<T> ||
                       std::same_as<T, std::string> || std::same_as<T, Json>) {
    return Json(value);
  } else if constexpr (std::is_enum_v<T>) {
    return Json(word_table(value).at(static_cast<std::size_t>(value)).word);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? write_memo(*value) : Json();
  } else if constexpr (std::unsigned_integral<T>) {
    return Json(std::uint64_t{value});
  } else if constexpr (std::integral<T>) {
    return Json(std::int64_t{value});
  } else if constexpr (requires { typename T::mapped_type; }) {
    Json json = Json::object();
    for (const auto& [key, item] : value)
      json.set(key, write_memo(item));
    return json;
  } else {
    Json json = Json::array();
    for (const auto& item : value)
      json.push(write_memo(item));
    return json;
  }
}

}  // namespace baton
