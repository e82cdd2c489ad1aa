// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/rules/rule_check.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {
namespace {

constexpr int kMostReferences = 20;

/// With one of these keywords, `properties` does not list all members.
constexpr std::array<std::string_view, 6> kOpen = {"allOf", "anyOf",       "oneOf",
                                                   "if",    "$dynamicRef", "patternProperties"};

/// Follows references inside the schema. nullptr if a reference leads elsewhere.
const Value* resolved(const Value& schema, const Value* at) {
  for (int i = 0; at != nullptr && at->IsObject() && i < kMostReferences; ++i) {
    const auto reference = json::text(*at, "$ref");
    if (!reference)
      return at;
    if (!reference->starts_with("#"))
      return nullptr;
    at = json::at(schema, reference->substr(1));
  }
  return nullptr;
}

std::string not_named(const Value& names, const std::string& token, std::string_view pointer) {
  std::vector<std::string> known;
  for (const auto& member : names.GetObject())
    known.emplace_back(json::name(member.name));
  const auto near = nearest(token, known);
  return "the schema has no member '" + printable(token, 80) + "' for the pointer " +
         printable(pointer, 200) +
         (near ? "; did you mean '" + *near + "'?" : "; it names " + join(known, ", "));
}

bool is_open(const Value& schema) {
  return std::any_of(kOpen.begin(), kOpen.end(),
                     [&](std::string_view word) { return json::child(schema, word) != nullptr; });
}

/// What a schema says about a member.
struct MemberSchema {
  const Value* schema = nullptr;  ///< nullptr: unknown
  std::string fault;
};

MemberSchema member_schema(const Value& schema, std::string_view pointer) {
  const Value* at = &schema;
  const auto tokens = json::pointer_tokens(pointer);
  if (!tokens)
    return {nullptr, "is not a JSON pointer"};
  for (const std::string& token : *tokens) {
    at = resolved(schema, at);
    if (at == nullptr || is_open(*at))
      return {};
    const Value* const names = json::child(*at, "properties");
    const Value* const others = json::child(*at, "additionalProperties");
    const Value* const items = token == kSubject ? json::child(*at, "items") : nullptr;
    const Value* const named =
        names == nullptr || token == kSubject ? nullptr : json::child(*names, token);
    if (named != nullptr)
      at = named;
    else if (others != nullptr && others->IsObject())
      at = others;
    else if (items != nullptr && items->IsObject())
      at = items;
    else if (names == nullptr || !names->IsObject() || token == kSubject)
      return {};
    else
      return {nullptr, not_named(*names, token, pointer)};
  }
  return {resolved(schema, at), ""};
}

/// The value as a stage word: texts unchanged, other values as JSON.
std::string word_of(const Value& value) {
  return std::string(json::text(value).value_or(spelled(value)));
}

/// Why the schema forbids this word. Empty if the word may be right.
std::string word_fault(const Value& schema, std::string_view pointer, const std::string& word) {
  const std::vector<Word> allowed = words_at(schema, pointer);
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), word) != allowed.end())
    return {};
  const auto near = nearest(word, allowed);
  return "the schema does not allow '" + printable(word, 80) + "' at " + printable(pointer, 200) +
         (near ? "; did you mean '" + *near + "'?" : "; it allows " + join(allowed, ", "));
}

/// A word that a rule expects or sets.
struct NamedWord {
  std::string where;
  Place place;
  std::string word;
};

std::vector<NamedWord> words_of(const Rule& rule) {
  std::vector<NamedWord> words;
  for (const auto& [key, stages] : {std::pair{"stages", &rule.stages}, {"done", &rule.done}})
    for (const Word& stage : *stages)
      words.push_back({key, rule.stage, stage});
  for (std::size_t i = 0; i < rule.react.size(); ++i) {
    const Reaction& reaction = rule.react[i];
    const std::string of = " of react " + std::to_string(i + 1);
    for (const auto& [key, stages] :
         {std::pair{"to", &reaction.to}, {"from", &reaction.from}, {"next", &reaction.next}})
      for (const Word& stage : *stages)
        words.push_back({key + of, rule.stage, stage});
    const auto add = [&](const std::string& key, const std::vector<Member>& members) {
      for (const Member& member : members)
        if (std::string word = word_of(*member.value); word.find("${") == std::string::npos)
          words.push_back({key + of, member.place, std::move(word)});
    };
    add("set", reaction.set);
    if (reaction.approval)
      add("rejected", reaction.approval->rejected);
    for (const Condition& condition : reaction.when)
      if (is_over_all(condition))
        for (const Value& each : condition.operand->GetArray())
          words.push_back({"when" + of, condition.place, word_of(each)});
  }
  return words;
}

/// The schema of the place's document. A place without a name is in the document with the stage.
const Value* schema_at(const Rule& rule, const Place& place,
                       const std::function<const Value*(const Kind& kind)>& schema_of) {
  const std::string& name = place.document.empty() ? rule.stage.document : place.document;
  const auto kind = std::find_if(rule.kinds.begin(), rule.kinds.end(),
                                 [&](const Kind& known) { return known.name == name; });
  return kind == rule.kinds.end() ? nullptr : schema_of(*kind);
}

}  // namespace

std::string pointer_fault(const Value& schema, std::string_view pointer) {
  return member_schema(schema, pointer).fault;
}

std::vector<Word> words_at(const Value& schema, std::string_view pointer) {
  const Value* const at = member_schema(schema, pointer).schema;
  std::vector<Word> words;
  if (at != nullptr && !is_open(*at))
    for (const Value& each : items_in(*at, "enum"))
      words.push_back(word_of(each));
  return words;
}

std::vector<Word> known_stages(const Rule& rule) {
  std::vector<Word> all;
  const auto add = [&](const Word& stage) {
    if (!stage.empty() && std::find(all.begin(), all.end(), stage) == all.end())
      all.push_back(stage);
  };
  const auto add_set = [&](const std::vector<Member>& members) {
    for (const Member& member : members)
      if (const auto write = stage_write(rule, member))
        add(write->word);
  };
  for (const auto* const stages : {&rule.stages, &rule.done})
    std::for_each(stages->begin(), stages->end(), add);
  for (const Reaction& reaction : rule.react) {
    for (const auto* const stages : {&reaction.to, &reaction.from, &reaction.next})
      std::for_each(stages->begin(), stages->end(), add);
    add_set(reaction.set);
    if (reaction.approval)
      add_set(reaction.approval->rejected);
  }
  return all;
}

bool is_unknown_stage(const Rule& rule, const std::vector<Word>& known, const Word& stage) {
  return !rule.stages.empty() && std::find(known.begin(), known.end(), stage) == known.end();
}

std::optional<Word> meant_stage(const std::vector<Word>& known, const Word& stage) {
  auto near = nearest(stage, known);
  // Two short words are always close to each other.
  if (near && !near->starts_with(stage) && 2 * edit_distance(stage, *near) >= stage.size())
    near.reset();
  return near;
}

std::vector<NamedPlace> places_of(const Rule& rule) {
  std::vector<NamedPlace> places{{"stage", rule.stage, false}};
  if (rule.order)
    places.push_back({"order", *rule.order, false});
  if (rule.needs)
    places.push_back({"needs", *rule.needs, false});
  for (const auto& [name, place] : rule.values)
    places.push_back({"values/" + name, place, false});
  for (std::size_t i = 0; i < rule.react.size(); ++i) {
    const Reaction& reaction = rule.react[i];
    const std::string of = " of react " + std::to_string(i + 1);
    for (const Condition& condition : reaction.when) {
      places.push_back({"when" + of, condition.place, is_over_all(condition)});
      if (const auto limit = limit_place(condition))
        places.push_back({"when" + of, *limit, false});
    }
    for (const Member& member : reaction.set)
      places.push_back({"set" + of, member.place, false});
    if (!reaction.approval)
      continue;
    if (reaction.approval->decision)
      places.push_back({"approval" + of, *reaction.approval->decision, false});
    for (const Member& member : reaction.approval->rejected)
      places.push_back({"rejected" + of, member.place, false});
  }
  return places;
}

std::vector<std::string> place_faults(
    const Rule& rule, const std::function<const Value*(const Kind& kind)>& schema_of) {
  std::vector<std::string> faults;
  const auto say = [&](const std::string& where, const std::string& fault) {
    if (!fault.empty())
      faults.push_back("rule " + rule.name + ", " + where + ": " + fault);
  };
  for (const NamedPlace& each : places_of(rule))
    if (const Value* const schema = schema_at(rule, each.place, schema_of))
      say(each.where, pointer_fault(*schema, each.place.pointer));
  for (const NamedWord& each : words_of(rule))
    if (const Value* const schema = schema_at(rule, each.place, schema_of))
      say(each.where, word_fault(*schema, each.place.pointer, each.word));
  return faults;
}

}  // namespace baton::rules
