#include "dialects/rules/pointers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace baton::rules {
namespace {

constexpr int kMostReferences = 20;

/// What makes a schema say more than its `properties` do.
constexpr std::array kOpen = {
    std::string_view("allOf"),       std::string_view("anyOf"),
    std::string_view("oneOf"),       std::string_view("if"),
    std::string_view("$dynamicRef"), std::string_view("patternProperties"),
};

/// Follows references within the schema; nullptr where it cannot be told.
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
    known.emplace_back(member.name.GetString(), member.name.GetStringLength());
  const auto near = nearest(token, known);
  return "the schema names no member '" + printable(token, 80) + "' for the pointer " +
         printable(pointer, 200) +
         (near ? "; did you mean '" + *near + "'?" : "; it names " + join(known, ", "));
}

}  // namespace

std::string pointer_fault(const Value& schema, std::string_view pointer) {
  const Value* at = &schema;
  const auto tokens = json::pointer_tokens(pointer);
  if (!tokens)
    return "is no JSON pointer";
  for (const std::string& token : *tokens) {
    at = resolved(schema, at);
    if (at == nullptr || std::any_of(kOpen.begin(), kOpen.end(), [&](std::string_view word) {
          return json::child(*at, word) != nullptr;
        }))
      return {};
    const Value* const names = json::child(*at, "properties");
    const Value* const others = json::child(*at, "additionalProperties");
    const Value* const named =
        names == nullptr || token == kSubject ? nullptr : json::child(*names, token);
    if (named != nullptr)
      at = named;
    else if (others != nullptr && others->IsObject())
      at = others;
    else if (names == nullptr || !names->IsObject() || token == kSubject)
      return {};
    else
      return not_named(*names, token, pointer);
  }
  return {};
}

std::vector<NamedPlace> places_of(const Rule& rule) {
  std::vector<NamedPlace> places{{"stage", rule.stage}};
  for (const auto& [name, place] : rule.values)
    places.push_back({"values/" + name, place});
  for (std::size_t i = 0; i < rule.react.size(); ++i) {
    const Reaction& reaction = rule.react[i];
    const std::string of = " of react " + std::to_string(i + 1);
    for (const Condition& condition : reaction.when) {
      places.push_back({"when" + of, condition.place});
      if (const auto limit = limit_place(condition))
        places.push_back({"when" + of, *limit});
    }
    for (const Member& member : reaction.set)
      places.push_back({"set" + of, member.place});
    if (!reaction.approval)
      continue;
    if (reaction.approval->decision)
      places.push_back({"approval" + of, *reaction.approval->decision});
    for (const Member& member : reaction.approval->rejected)
      places.push_back({"rejected" + of, member.place});
  }
  return places;
}

std::vector<std::string> pointer_faults(
    const Rule& rule, const std::function<const Value*(const Kind& kind)>& schema_of) {
  std::vector<std::string> faults;
  for (const NamedPlace& each : places_of(rule)) {
    // Without a name it is the document with the stage; which of several unnamed ones, is open.
    const std::string& name =
        each.place.document.empty() ? rule.stage.document : each.place.document;
    const auto kind = std::find_if(rule.kinds.begin(), rule.kinds.end(),
                                   [&](const Kind& known) { return known.name == name; });
    const Value* const schema = kind == rule.kinds.end() ? nullptr : schema_of(*kind);
    const std::string fault = schema == nullptr ? "" : pointer_fault(*schema, each.place.pointer);
    if (!fault.empty())
      faults.push_back("rule " + rule.name + ", " + each.where + ": " + fault);
  }
  return faults;
}

}  // namespace baton::rules
