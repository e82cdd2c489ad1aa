#include "base/schema_walk.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/formats.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

constexpr std::size_t kShown = 60;
// A validation of a wrong document keeps more than is shown, so that what is shown is the first in
// the text; but not without bounds.
constexpr std::size_t kMaxKept = 10'000;

// A main thread has 8 MiB.
constexpr std::uintptr_t kMaxStackBytes = 3U << 20U;

std::uintptr_t stack_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

std::string_view name_of(const Value& name) {
  return {name.GetString(), name.GetStringLength()};
}

std::string shown(const Value& value) {
  if (value.IsObject())
    return "an object";
  if (value.IsArray())
    return "an array";
  if (value.IsString())
    return printable(json::quote(name_of(value).substr(0, 2 * kShown)), kShown);
  return printable(json::dump(value), kShown);
}

std::string shown_name(std::string_view name) {
  return printable(json::quote(name.substr(0, 2 * kShown)), kShown);
}

unsigned type_of(const Value& value, Draft draft) {
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
  const bool whole = !value.IsDouble() || (draft != Draft::draft4 && is_whole(value));
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
      words.emplace_back(name_of(word));
  return nearest(name_of(value), words).value_or("");
}

std::size_t depth_of(const Finding& finding) {
  return static_cast<std::size_t>(std::count(finding.pointer.begin(), finding.pointer.end(), '/'));
}

std::size_t deepest(const Findings& findings) {
  std::size_t depth = 0;
  for (const Finding& finding : findings)
    depth = std::max(depth, depth_of(finding));
  return depth;
}

std::string count_words(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace

SchemaWalk::SchemaWalk(const SchemaTree& tree, std::size_t max_steps)
    : tree_(tree), steps_left_(max_steps), stack_begin_(stack_pointer()) {}

void SchemaWalk::look_at_stack() const {
  const std::uintptr_t here = stack_pointer();
  const std::uintptr_t grown = here < stack_begin_ ? stack_begin_ - here : here - stack_begin_;
  if (grown > kMaxStackBytes)
    throw SchemaExhausted{"document and schema are nested too deeply in each other"};
}

void SchemaWalk::spend(std::size_t steps) {
  if (steps > steps_left_)
    throw SchemaExhausted{"the validation takes too many steps and was given up"};
  steps_left_ -= steps;
}

std::string SchemaWalk::pointer() const {
  std::string out;
  for (const Step& step : path_) {
    out += '/';
    if (const auto* name = std::get_if<std::string_view>(&step))
      out += json::pointer_token(*name);
    else
      out += std::to_string(std::get<std::size_t>(step));
  }
  return out;
}

bool SchemaWalk::refuse(const SchemaNode& node, std::string_view keyword, const Value& value,
                        std::string message, std::string expected, std::string suggestion) {
  if (sink_ != nullptr && sink_->size() < kMaxKept) {
    Finding finding;
    finding.rule = "schema/" + std::string(keyword);
    finding.pointer = pointer();
    finding.schema_pointer = node.pointer + (node.never ? "" : "/" + std::string(keyword));
    finding.message = std::move(message);
    finding.found = shown(value);
    finding.expected = std::move(expected);
    finding.suggestion = std::move(suggestion);
    sink_->push_back(std::move(finding));
  }
  return false;
}

bool SchemaWalk::holds(NodeIndex index, const Value& value) {  // NOLINT(misc-no-recursion): limited
  const SchemaNode& node = tree_.nodes[index];
  bool good = rules_hold(index, value);
  if (!good && sink_ == nullptr)
    return false;
  if (value.IsObject() && !node.walked)
    good &= members_and_dependencies(node, value);
  if (value.IsArray())
    good &= item_parts(node, value);
  return in_place(node, value) && good;
}

bool SchemaWalk::rules_hold(NodeIndex index,  // NOLINT(misc-no-recursion): limited
                            const Value& value) {
  spend(1);
  look_at_stack();
  const SchemaNode& node = tree_.nodes[index];
  if (node.never)
    return refuse(node, "false", value, "nothing is allowed here");
  bool good = scalar_rules(node, value);
  if (value.IsNumber())
    good &= number_rules(node, value);
  else if (value.IsString())
    good &= string_rules(node, value);
  else if (value.IsArray())
    good &= array_rules(node, value);
  else if (value.IsObject())
    good &= object_rules(node, value);
  return good;
}

Findings SchemaWalk::reasons(NodeIndex node, const Value& value) {
  Findings out;
  sink_ = &out;
  holds(node, value);
  sink_ = nullptr;
  return out;
}

bool SchemaWalk::scalar_rules(const SchemaNode& node, const Value& value) {
  bool good = true;
  if (node.types && (*node.types & type_of(value, node.draft)) == 0) {
    const std::string expected = type_words(*node.types);
    std::string found = shown(value);
    if (value.IsString() || value.IsNumber() || value.IsBool())
      found = "the " + std::string(json::type_name(value)) + " " + found;
    good = refuse(node, "type", value, "expected " + expected + ", found " + found, expected);
  }
  if (node.allowed != nullptr) {
    spend(node.allowed->Size());
    const bool found = std::any_of(node.allowed->Begin(), node.allowed->End(),
                                   [&](const Value& word) { return json::equal(word, value); });
    if (!found)
      good =
          refuse(node, "enum", value, shown(value) + " is not one of " + enum_words(*node.allowed),
                 enum_words(*node.allowed), nearest_of(value, *node.allowed));
  }
  if (node.constant != nullptr && !json::equal(*node.constant, value))
    good = refuse(node, "const", value, shown(value) + " is not " + shown(*node.constant),
                  shown(*node.constant));
  return good;
}

bool SchemaWalk::number_rules(const SchemaNode& node, const Value& value) {
  bool good = true;
  const auto limit = [&](const Value* bound, std::string_view keyword, std::string_view relation,
                         bool kept) {
    if (bound == nullptr || kept)
      return;
    const std::string expected = std::string(relation) + " " + shown(*bound);
    good = refuse(node, keyword, value, shown(value) + " is not " + expected, expected);
  };
  if (node.maximum != nullptr)
    limit(node.maximum, "maximum", "at most", !is_less(*node.maximum, value));
  if (node.minimum != nullptr)
    limit(node.minimum, "minimum", "at least", !is_less(value, *node.minimum));
  const bool draft4 = node.draft == Draft::draft4;
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
  spend(1 + text.size() / 16);
  switch (pattern.search(text)) {
    case Pattern::Match::yes:
      return true;
    case Pattern::Match::no:
      return false;
    case Pattern::Match::too_expensive:
      break;
  }
  throw SchemaExhausted{"the pattern " + shown_name(pattern.source()) +
                        " takes too many steps on " + shown_name(text)};
}

bool SchemaWalk::string_rules(const SchemaNode& node, const Value& value) {
  const std::string_view text = name_of(value);
  bool good = true;
  if (node.max_length || node.min_length) {
    const std::uint64_t length = utf8_count(text);
    const std::string has = " has " + count_words(length, "character", "characters");
    if (node.max_length && length > *node.max_length)
      good = refuse(
          node, "maxLength", value,
          shown(value) + has + ", at most " + std::to_string(*node.max_length) + " are allowed",
          "at most " + count_words(*node.max_length, "character", "characters"));
    if (node.min_length && length < *node.min_length)
      good = refuse(
          node, "minLength", value,
          shown(value) + has + ", at least " + std::to_string(*node.min_length) + " are needed",
          "at least " + count_words(*node.min_length, "character", "characters"));
  }
  if (node.pattern && !matches(*node.pattern, text))
    good = refuse(node, "pattern", value,
                  shown(value) + " does not match " + printable(node.pattern->source(), 200),
                  "a text that matches " + printable(node.pattern->source(), 200));
  // Cheap, but linear: addresses and times are short.
  if (!node.format.empty() && !format_holds(node.format, text).value_or(true))
    good = refuse(node, "format", value, shown(value) + " is no " + printable(node.format, kShown),
                  printable(node.format, kShown));
  return good;
}

bool SchemaWalk::unique(const Value& array, std::size_t& second) {
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
  hashes.reserve(array.Size());
  for (rapidjson::SizeType i = 0; i < array.Size(); ++i)
    hashes.emplace_back(hash_of(array[i]), i);
  spend(array.Size());
  std::sort(hashes.begin(), hashes.end());
  second = array.Size();
  for (std::size_t begin = 0; begin < hashes.size(); ++begin) {
    for (std::size_t other = begin + 1;
         other < hashes.size() && hashes[other].first == hashes[begin].first; ++other) {
      spend(1);
      const auto left = static_cast<rapidjson::SizeType>(hashes[begin].second);
      const auto right = static_cast<rapidjson::SizeType>(hashes[other].second);
      if (json::equal(array[left], array[right])) {
        second = std::min(second, hashes[other].second);
        break;
      }
    }
  }
  return second == array.Size();
}

bool SchemaWalk::array_rules(const SchemaNode& node, const Value& value) {
  bool good = true;
  const std::uint64_t count = value.Size();
  if (node.max_items && count > *node.max_items)
    good = refuse(node, "maxItems", value,
                  count_words(count, "item", "items") + ", at most " +
                      std::to_string(*node.max_items) + " are allowed",
                  "at most " + count_words(*node.max_items, "item", "items"));
  if (node.min_items && count < *node.min_items)
    good = refuse(node, "minItems", value,
                  count_words(count, "item", "items") + ", at least " +
                      std::to_string(*node.min_items) + " are needed",
                  "at least " + count_words(*node.min_items, "item", "items"));
  std::size_t second = 0;
  if (node.unique_items && !unique(value, second)) {
    path_.emplace_back(second);
    const Value& item = value[static_cast<rapidjson::SizeType>(second)];
    good = refuse(node, "uniqueItems", item, shown(item) + " is there twice", "different items");
    path_.pop_back();
  }
  return good;
}

bool SchemaWalk::object_rules(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                              const Value& value) {
  bool good = true;
  const std::uint64_t count = value.MemberCount();
  if (node.max_properties && count > *node.max_properties)
    good = refuse(node, "maxProperties", value,
                  count_words(count, "member", "members") + ", at most " +
                      std::to_string(*node.max_properties) + " are allowed",
                  "at most " + count_words(*node.max_properties, "member", "members"));
  if (node.min_properties && count < *node.min_properties)
    good = refuse(node, "minProperties", value,
                  count_words(count, "member", "members") + ", at least " +
                      std::to_string(*node.min_properties) + " are needed",
                  "at least " + count_words(*node.min_properties, "member", "members"));
  spend(node.required.size());
  for (const std::string& name : node.required)
    if (json::child(value, name) == nullptr)
      good = refuse(node, "required", value, "the member " + shown_name(name) + " is missing",
                    shown_name(name));
  for (const auto& [name, needed] : node.needs)
    for (const std::string& other : needed)
      if (json::child(value, name) != nullptr && json::child(value, other) == nullptr)
        good = refuse(
            node, "dependencies", value,
            "the member " + shown_name(other) + " is missing; " + shown_name(name) + " needs it",
            shown_name(other));
  if (node.property_names) {
    for (const auto& entry : value.GetObject()) {
      if (quietly(*node.property_names, entry.name))
        continue;
      path_.emplace_back(name_of(entry.name));
      good = refuse(node, "propertyNames", entry.name,
                    "the name " + shown_name(name_of(entry.name)) + " is not allowed");
      path_.pop_back();
    }
  }
  if (node.walked)
    good &= members_and_dependencies(node, value);
  return good;
}

bool SchemaWalk::members(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                         const Value& value) {
  if (node.properties.empty() && node.pattern_properties.empty() && !node.additional_properties)
    return true;
  bool good = true;
  for (const auto& entry : value.GetObject()) {
    good &= member(node, name_of(entry.name), entry.value);
    if (!good && sink_ == nullptr)
      return false;
  }
  return good;
}

bool SchemaWalk::member(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                        std::string_view name, const Value& value) {
  bool good = true;
  bool known = false;
  if (const NodeIndex* declared = node.property(name)) {
    known = true;
    good &= below(name, *declared, value);
  }
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (matches(pattern, name)) {
      known = true;
      good &= below(name, schema, value);
    }
  }
  if (known || !node.additional_properties)
    return good;
  const NodeIndex additional = *node.additional_properties;
  if (!tree_.nodes[additional].never)
    return below(name, additional, value);
  std::string suggestion;
  if (sink_ != nullptr) {
    std::vector<std::string> names;
    for (const auto& [declared, schema] : node.properties)
      names.push_back(declared);
    suggestion = nearest(name, names).value_or("");
  }
  path_.emplace_back(name);
  refuse(node, "additionalProperties", value,
         "the member " + shown_name(name) + " is not allowed here", "", std::move(suggestion));
  path_.pop_back();
  return false;
}

bool SchemaWalk::below(Step step, NodeIndex node,  // NOLINT(misc-no-recursion): limited
                       const Value& value) {
  path_.push_back(step);
  const bool good = holds(node, value);
  path_.pop_back();
  return good;
}

bool SchemaWalk::item_parts(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                            const Value& value) {
  bool good = true;
  for (rapidjson::SizeType i = 0; i < value.Size() && (good || sink_ != nullptr); ++i) {
    if (node.items)
      good &= below(std::size_t{i}, *node.items, value[i]);
    else if (i < node.tuple.size())
      good &= below(std::size_t{i}, node.tuple[i], value[i]);
    else if (node.additional_items)
      good &= below(std::size_t{i}, *node.additional_items, value[i]);
  }
  if (node.contains) {
    const bool found = std::any_of(value.Begin(), value.End(), [&](const Value& item) {
      return quietly(*node.contains, item);
    });
    if (!found)
      good = refuse(node, "contains", value, "no item is what one of them has to be");
  }
  return good;
}

/// Asks without noting reasons.
bool SchemaWalk::quietly(NodeIndex node,
                         const Value& value) {  // NOLINT(misc-no-recursion): limited
  Findings* const sink = std::exchange(sink_, nullptr);
  const bool good = holds(node, value);
  sink_ = sink;
  return good;
}

bool SchemaWalk::in_place(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                          const Value& value) {
  bool good = true;
  for (const NodeIndex part : node.all_of) {
    good &= holds(part, value);
    if (!good && sink_ == nullptr)
      return false;
  }
  good &= any_of(node, value);
  good &= one_of(node, value);
  if (node.negated && quietly(*node.negated, value))
    good = refuse(node, "not", value, shown(value) + " is what it must not be");
  if (node.condition) {
    const auto& branch = quietly(*node.condition, value) ? node.consequence : node.alternative;
    if (branch)
      good &= holds(*branch, value);
  }
  return good;
}

bool SchemaWalk::members_and_dependencies(  // NOLINT(misc-no-recursion): limited
    const SchemaNode& node, const Value& value) {
  const bool good = members(node, value);
  return dependencies(node, value) && good;
}

bool SchemaWalk::dependencies(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                              const Value& value) {
  bool good = true;
  for (const auto& [name, schema] : node.dependencies)
    if (json::child(value, name) != nullptr)
      good &= holds(schema, value);
  return good;
}

bool SchemaWalk::any_of(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                        const Value& value) {
  if (node.any_of.empty())
    return true;
  for (const NodeIndex branch : node.any_of)
    if (quietly(branch, value))
      return true;
  return no_branch(node, value, "anyOf", node.any_of);
}

bool SchemaWalk::one_of(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                        const Value& value) {
  if (node.one_of.empty())
    return true;
  std::size_t fitting = 0;
  for (const NodeIndex branch : node.one_of)
    fitting += quietly(branch, value) ? 1U : 0U;
  if (fitting == 1)
    return true;
  if (fitting == 0)
    return no_branch(node, value, "oneOf", node.one_of);
  return refuse(
      node, "oneOf", value,
      shown(value) + " fits " + std::to_string(fitting) + " alternatives, exactly one is allowed");
}

std::vector<Findings> SchemaWalk::branches(  // NOLINT(misc-no-recursion): limited
    const std::vector<NodeIndex>& nodes, const Value& value) {
  std::vector<Findings> out;
  Findings* const sink = sink_;
  for (const NodeIndex node : nodes) {
    Findings findings;
    sink_ = &findings;
    holds(node, value);
    out.push_back(std::move(findings));
  }
  sink_ = sink;
  return out;
}

/// Tells about the branch that was meant: the one whose faults lie deepest. When all fail at the
/// value itself, none was meant more than another, and they are told together.
bool SchemaWalk::no_branch(const SchemaNode& node,  // NOLINT(misc-no-recursion): limited
                           const Value& value, std::string_view keyword,
                           const std::vector<NodeIndex>& nodes) {
  if (sink_ == nullptr)
    return false;
  std::vector<Findings> all = branches(nodes, value);
  const auto best =
      std::max_element(all.begin(), all.end(), [](const auto& one, const auto& other) {
        return deepest(one) < deepest(other) ||
               (deepest(one) == deepest(other) && one.size() > other.size());
      });
  if (deepest(*best) > path_.size()) {
    sink_->insert(sink_->end(), best->begin(), best->end());
    return false;
  }
  constexpr std::size_t kTold = 4;
  std::vector<std::string> reasons;
  for (const Findings& findings : all)
    if (!findings.empty() && reasons.size() < kTold &&
        std::find(reasons.begin(), reasons.end(), findings.front().message) == reasons.end())
      reasons.push_back(findings.front().message);
  return refuse(node, keyword, value,
                "none of " + count_words(nodes.size(), "alternative", "alternatives") +
                    " fits: " + join(reasons, "; "));
}

Finding exhausted_finding(const SchemaExhausted& exhausted) {
  return {.rule = "schema/limit", .message = exhausted.why};
}

Findings explain(const SchemaTree& tree, const Document& document, const SchemaLimits& limits) {
  Findings findings;
  try {
    findings = SchemaWalk(tree, limits.max_steps).reasons(0, document.root());
  } catch (const SchemaExhausted& exhausted) {
    findings.push_back(exhausted_finding(exhausted));
  }
  // Places are looked up in the text, which costs; beyond a bound only the first ones found count.
  const std::size_t located = std::min(findings.size(), 4 * limits.max_findings + 1);
  const std::size_t total = findings.size();
  findings.resize(located);
  for (Finding& finding : findings) {
    const bool key =
        finding.rule == "schema/additionalProperties" || finding.rule == "schema/propertyNames";
    finding.span = document.locate(finding.pointer, key);
    if (finding.rule == "schema/required" || finding.rule == "schema/dependencies") {
      finding.span.end = finding.span.begin;
      ++finding.span.end.column;
      ++finding.span.end.offset;
    }
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& one, const Finding& other) {
    return one.span.begin.offset < other.span.begin.offset;
  });
  if (total > limits.max_findings) {
    findings.resize(limits.max_findings);
    findings.push_back({.rule = "schema/limit",
                        .message = std::to_string(total - limits.max_findings) + " more faults"});
  }
  return findings;
}

}  // namespace baton
