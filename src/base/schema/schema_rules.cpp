// SPDX-License-Identifier: Apache-2.0

// The rules of SchemaWalk about a value by itself.

#include <algorithm>

#include "base/json/numbers.h"
#include "base/schema/formats.h"
#include "base/schema/pattern.h"
#include "base/schema/schema_walk.h"
#include "base/schema/schema_words.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

/// Names an unknown member that is nearly spelled like the missing one; "" if there is none.
std::string misspelt(const SchemaNode& node, const Value& value, const std::string& name) {
  constexpr std::size_t kShort = 4;
  constexpr std::size_t kSlips = 2;
  constexpr rapidjson::SizeType kMost = 100;
  if (name.size() < kShort || value.MemberCount() > kMost)
    return {};
  for (const auto& member : value.GetObject()) {
    const std::string_view there = json::name(member.name);
    const bool known = std::any_of(node.properties.begin(), node.properties.end(),
                                   [&](const auto& property) { return property.first == there; });
    const std::size_t apart =
        there.size() > name.size() ? there.size() - name.size() : name.size() - there.size();
    if (!known && apart <= kSlips && edit_distance(there, name) <= kSlips)
      return "; " + shown_name(there) + " is nearly that";
  }
  return {};
}

}  // namespace

bool SchemaWalk::scalar_rules(const SchemaNode& node, const Value& value) {
  bool good = true;
  if (node.types && (*node.types & type_of(value, node.draft)) == 0) {
    if (sink_ == nullptr)
      return false;
    const std::string expected = type_words(*node.types);
    std::string found = shown(value);
    if (value.IsString() || value.IsNumber() || value.IsBool())
      found = "the " + std::string(json::type_name(value)) + " " + found;
    good = refuse(node, "type", value, "expected " + expected + ", found " + found, expected);
  }
  if (node.allowed != nullptr && !allowed(node, value)) {
    if (sink_ == nullptr)
      return false;
    const std::string words = enum_words(*node.allowed);
    good = refuse(node, "enum", value, shown(value) + " is not one of " + words, words,
                  value.IsString() && may_suggest(json::name(value), node.allowed->Size())
                      ? nearest_of(value, *node.allowed)
                      : "");
  }
  if (node.constant != nullptr && !json::equal(*node.constant, value))
    good = sink_ != nullptr &&
           refuse(node, "const", value, shown(value) + " is not " + shown(*node.constant),
                  shown(*node.constant));
  return good;
}

bool SchemaWalk::allowed(const SchemaNode& node, const Value& value) {
  if (node.allowed_hashes.empty())
    return std::any_of(node.allowed->Begin(), node.allowed->End(),
                       [&](const Value& word) { return json::equal(word, value); });
  spend_on(value);
  const std::uint64_t hash = hash_of(value);
  for (auto at = std::lower_bound(node.allowed_hashes.begin(), node.allowed_hashes.end(),
                                  std::pair(hash, rapidjson::SizeType{0}));
       at != node.allowed_hashes.end() && at->first == hash; ++at) {
    spend_on(value);
    if (json::equal((*node.allowed)[at->second], value))
      return true;
  }
  return false;
}

bool SchemaWalk::number_rules(const SchemaNode& node, const Value& value) {
  bool good = true;
  const auto limit = [&](const Value* bound, std::string_view keyword, std::string_view relation,
                         bool kept) {
    if (bound == nullptr || kept)
      return;
    good = false;
    if (sink_ == nullptr)
      return;
    const std::string expected = std::string(relation) + " " + shown(*bound);
    refuse(node, keyword, value, shown(value) + " is not " + expected, expected);
  };
  if (node.maximum != nullptr)
    limit(node.maximum, "maximum", "at most", !is_less(*node.maximum, value));
  if (node.minimum != nullptr)
    limit(node.minimum, "minimum", "at least", !is_less(value, *node.minimum));
  const bool draft4 = node.draft == SchemaDraft::draft4;
  if (node.exclusive_maximum != nullptr)
    limit(node.exclusive_maximum, draft4 ? "maximum" : "exclusiveMaximum", "less than",
          is_less(value, *node.exclusive_maximum));
  if (node.exclusive_minimum != nullptr)
    limit(node.exclusive_minimum, draft4 ? "minimum" : "exclusiveMinimum", "greater than",
          is_less(*node.exclusive_minimum, value));
  if (node.multiple_of != nullptr)
    limit(node.multiple_of, "multipleOf", "a multiple of", is_multiple(value, *node.multiple_of));
  return good;
}

bool SchemaWalk::matches(const Pattern& pattern, std::string_view text) {
  spend(1);
  const Pattern::Search search = pattern.search(text);
  // A match costs steps. Otherwise many long matches could take for ever.
  if (search.match != Pattern::Match::too_expensive) {
    spend(search.steps);
    return search.match == Pattern::Match::yes;
  }
  throw SchemaExhausted{"the pattern " + shown_name(pattern.source()) +
                            " takes too many steps on " + shown_name(text),
                        true};
}

bool SchemaWalk::size_rule(const SchemaNode& node, const Value& value, std::uint64_t size,
                           const std::optional<std::uint64_t>& least,
                           const std::optional<std::uint64_t>& most, const SizeWords& words) {
  if ((!most || size <= *most) && (!least || size >= *least))
    return true;
  const auto counted = [&](std::uint64_t count) {
    return count_words(count, words.unit, std::string(words.unit) + "s");
  };
  const std::string has = (value.IsString() ? shown(value) + " has " : "") + counted(size);
  if (most && size > *most)
    refuse(node, words.most, value, has + ", at most " + std::to_string(*most) + " are allowed",
           "at most " + counted(*most));
  if (least && size < *least)
    refuse(node, words.least, value, has + ", at least " + std::to_string(*least) + " are needed",
           "at least " + counted(*least));
  return false;
}

bool SchemaWalk::refuse_by_pattern(const SchemaNode& node, const Value& value) {
  const std::string words = printable(node.pattern_words, 200);
  const std::string source = printable(node.pattern->source(), 200);
  return refuse(node, "pattern", value,
                shown(value) + (words.empty() ? " does not match " + source : ": " + words),
                words.empty() ? "a text that matches " + source : words);
}

bool SchemaWalk::string_rules(const SchemaNode& node, const Value& value) {
  const std::string_view text = json::name(value);
  bool good = true;
  if (node.max_length || node.min_length)
    good = size_rule(node, value, utf8_count(text), node.min_length, node.max_length,
                     {"minLength", "maxLength", "character"});
  if (node.pattern && !matches(*node.pattern, text))
    good = sink_ != nullptr && refuse_by_pattern(node, value);
  // The time to check a format grows with the text. Compiling a regular expression takes far
  // longer.
  constexpr std::size_t kCompiled = 5000;
  if (!node.format.empty())
    spend(text.size() / 16 + (node.format == "regex" ? kCompiled : 0));
  if (!node.format.empty() && !format_holds(node.format, text, node.draft).value_or(true))
    good = refuse(node, "format", value,
                  shown(value) + " is not a valid " + printable(node.format, kShownBytes),
                  printable(node.format, kShownBytes));
  return good;
}

/// Counts the cost of equality and hashes, which look at the whole value.
void SchemaWalk::spend_on(const Value& value) {
  spend(1);
  if (value.IsString()) {
    spend(value.GetStringLength() / 64);
  } else if (value.IsArray()) {
    for (const Value& item : value.GetArray())
      spend_on(item);
  } else if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      spend_on(member.name);
      spend_on(member.value);
    }
  }
}

bool SchemaWalk::unique(const Value& array, std::size_t& second) {
  spend_on(array);
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
  hashes.reserve(array.Size());
  for (rapidjson::SizeType i = 0; i < array.Size(); ++i)
    hashes.emplace_back(hash_of(array[i]), i);
  std::sort(hashes.begin(), hashes.end());
  second = array.Size();
  for (std::size_t begin = 0; begin < hashes.size(); ++begin) {
    for (std::size_t other = begin + 1;
         other < hashes.size() && hashes[other].first == hashes[begin].first; ++other) {
      const auto left = static_cast<rapidjson::SizeType>(hashes[begin].second);
      const auto right = static_cast<rapidjson::SizeType>(hashes[other].second);
      spend_on(array[left]);
      if (json::equal(array[left], array[right])) {
        second = std::min(second, hashes[other].second);
        break;
      }
    }
  }
  return second == array.Size();
}

bool SchemaWalk::array_rules(const SchemaNode& node, const Value& value) {
  bool good = size_rule(node, value, value.Size(), node.min_items, node.max_items,
                        {"minItems", "maxItems", "item"});
  std::size_t second = 0;
  if (node.unique_items && !unique(value, second)) {
    path_.emplace_back(second);
    const Value& item = value[static_cast<rapidjson::SizeType>(second)];
    good = refuse(node, "uniqueItems", item, shown(item) + " appears twice", "different items");
    path_.pop_back();
  }
  if (node.single_items && node.has_items())
    good &= item_parts(node, value);
  return good;
}

bool SchemaWalk::needed_members(const SchemaNode& node, const Value& value) {
  bool good = true;
  // Each name is searched among all members.
  constexpr std::size_t kCompared = 16;
  spend((node.required.size() + 2 * node.needs.size()) * (1 + value.MemberCount() / kCompared));
  for (const std::string& name : node.required)
    if (json::child(value, name) == nullptr)
      good = sink_ != nullptr &&
             refuse(node, "required", value,
                    "the member " + shown_name(name) + " is missing" + misspelt(node, value, name),
                    shown_name(name));
  for (const auto& [name, needed] : node.needs)
    for (const std::string& other : needed)
      if (json::child(value, name) != nullptr && json::child(value, other) == nullptr)
        good = refuse(
            node, node.draft < SchemaDraft::draft2019_09 ? "dependencies" : "dependentRequired",
            value,
            "the member " + shown_name(other) + " is missing; " + shown_name(name) + " needs it",
            shown_name(other));
  return good;
}

}  // namespace baton
