// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema_words.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/json/numbers.h"
#include "base/text.h"

namespace baton {

std::string shown(const Value& value) {
  if (value.IsObject())
    return "an object";
  if (value.IsArray())
    return "an array";
  if (value.IsString())
    return printable(json::quote(json::name(value).substr(0, 2 * kShownBytes)), kShownBytes);
  return printable(json::dump(value), kShownBytes);
}

std::string shown_name(std::string_view name) {
  return printable(json::quote(name.substr(0, 2 * kShownBytes)), kShownBytes);
}

unsigned type_of(const Value& value, SchemaDraft draft) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return null_type;
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return boolean_type;
    case rapidjson::kObjectType:
      return object_type;
    case rapidjson::kArrayType:
      return array_type;
    case rapidjson::kStringType:
      return string_type;
    case rapidjson::kNumberType:
      break;
  }
  // From draft-06 on, 1.0 is an integer.
  const bool whole = !value.IsDouble() || (draft != SchemaDraft::draft4 && is_whole(value));
  return whole ? integer_type | number_type : number_type;
}

std::string type_words(unsigned bits) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 7> kWords = {{
      {object_type, "object"},
      {array_type, "array"},
      {string_type, "string"},
      {integer_type, "integer"},
      {number_type, "number"},
      {boolean_type, "boolean"},
      {null_type, "null"},
  }};
  std::vector<std::string> words;
  for (const auto& [bit, word] : kWords)
    if ((bits & bit) != 0)
      words.emplace_back(word);
  return join(words, " or ");
}

std::string enum_words(const Value& allowed) {
  constexpr rapidjson::SizeType kMost = 10;
  std::vector<std::string> words;
  for (rapidjson::SizeType i = 0; i < std::min(allowed.Size(), kMost); ++i)
    words.push_back(shown(allowed[i]));
  std::string out = join(words, ", ");
  if (allowed.Size() > kMost)
    out += " and " + std::to_string(allowed.Size() - kMost) + " more";
  return out;
}

std::string nearest_of(const Value& value, const Value& allowed) {
  if (!value.IsString())
    return {};
  std::vector<std::string> words;
  for (const Value& word : allowed.GetArray())
    if (word.IsString())
      words.emplace_back(json::name(word));
  return nearest(json::name(value), words).value_or("");
}

std::string count_words(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace baton
