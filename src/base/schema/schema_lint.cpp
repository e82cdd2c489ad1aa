// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>

#include "base/schema/formats.h"
#include "base/schema/schema_front.h"
#include "base/schema/schema_words.h"
#include "base/text.h"

namespace baton {
namespace {

/// The types of values that a keyword applies to.
struct ScopeRow {
  std::string_view keyword;
  std::string_view type;
};
constexpr std::array kScopes = {
    ScopeRow{"additionalItems", "array"},
    ScopeRow{"additionalProperties", "object"},
    ScopeRow{"contains", "array"},
    ScopeRow{"dependencies", "object"},
    ScopeRow{"dependentRequired", "object"},
    ScopeRow{"dependentSchemas", "object"},
    ScopeRow{"exclusiveMaximum", "number"},
    ScopeRow{"exclusiveMinimum", "number"},
    ScopeRow{"items", "array"},
    ScopeRow{"maxContains", "array"},
    ScopeRow{"maxItems", "array"},
    ScopeRow{"maxLength", "string"},
    ScopeRow{"maxProperties", "object"},
    ScopeRow{"maximum", "number"},
    ScopeRow{"minContains", "array"},
    ScopeRow{"minItems", "array"},
    ScopeRow{"minLength", "string"},
    ScopeRow{"minProperties", "object"},
    ScopeRow{"minimum", "number"},
    ScopeRow{"multipleOf", "number"},
    ScopeRow{"pattern", "string"},
    ScopeRow{"patternProperties", "object"},
    ScopeRow{"prefixItems", "array"},
    ScopeRow{"properties", "object"},
    ScopeRow{"propertyNames", "object"},
    ScopeRow{"required", "object"},
    ScopeRow{"unevaluatedItems", "array"},
    ScopeRow{"unevaluatedProperties", "object"},
    ScopeRow{"uniqueItems", "array"},
};

/// The keywords to suggest for an unknown word.
std::vector<std::string> meant_words(const SchemaKeywords& keywords) {
  std::vector<std::string> words = {"$defs",       "allOf",       "anyOf", "const", "default",
                                    "definitions", "description", "else",  "enum",  "examples",
                                    "format",      "if",          "not",   "oneOf", "then",
                                    "title",       "type"};
  std::transform(kScopes.begin(), kScopes.end(), std::back_inserter(words),
                 [](const ScopeRow& row) { return std::string(row.keyword); });
  std::erase_if(words, [&](const std::string& word) { return !keywords.has(word); });
  return words;
}

/// A longer word is not a misspelled keyword, so baton suggests nothing for it.
constexpr std::size_t kMostWord = 200;

class Lint {
 public:
  Lint(const SchemaPlace& place, const SchemaKeywords& keywords)
      : place_(place), schema_(*place.value), keywords_(keywords) {}

  std::vector<Doubt> all() {
    for (const auto& member : schema_.GetObject()) {
      if (full())
        break;
      const std::string_view name = json::name(member.name);
      unknown_keyword(name);
      out_of_scope(name);
    }
    unknown_format();
    without_partner();
    impossible_members();
    return std::move(doubts_);
  }

 private:
  bool full() const { return doubts_.size() > kMaxDoubts; }

  void doubt(const std::string& pointer, bool key, std::string message,
             const std::optional<std::string>& suggestion = std::nullopt) {
    Finding finding{.severity = Severity::warning, .rule = "schema/lint"};
    finding.pointer = place_.pointer + pointer;
    finding.message = std::move(message);
    finding.suggestion = suggestion.value_or("");
    doubts_.push_back({std::move(finding), key});
  }

  void doubt_keyword(std::string_view keyword, const std::string& why) {
    doubt("/" + json::pointer_token(keyword), true, shown_name(keyword) + " " + why);
  }

  void unknown_keyword(std::string_view name) {
    if (keywords_.has(name) || name == "$defs" || name.starts_with("x-"))
      return;
    if (SchemaKeywords::of(keywords_.draft).has(name))
      doubt_keyword(name, "has no meaning: its vocabulary is not one of the meta-schema");
    else if (in_another_draft(name))
      doubt_keyword(name, "has no meaning in " + std::string(draft_row(keywords_.draft).name));
    else
      doubt("/" + json::pointer_token(name), true,
            "the keyword " + shown_name(name) + " is not known",
            name.size() > kMostWord ? std::nullopt : nearest(name, meant_words(keywords_)));
  }

  static bool in_another_draft(std::string_view name) {
    return SchemaKeywords::of(SchemaDraft::draft7).has(name) ||
           SchemaKeywords::of(SchemaDraft::draft2019_09).has(name) ||
           SchemaKeywords::of(SchemaDraft::draft2020_12).has(name);
  }

  bool may_be(std::string_view type) const {
    const Value* const types = json::child(schema_, "type");
    if (types == nullptr)
      return true;
    const auto fits = [&](const Value& each) {
      const auto word = json::text(each);
      return !word || *word == type || (type == "number" && *word == "integer");
    };
    return types->IsArray() ? std::any_of(types->Begin(), types->End(), fits) : fits(*types);
  }

  void out_of_scope(std::string_view keyword) {
    for (const ScopeRow& row : kScopes)
      if (row.keyword == keyword && keywords_.has(keyword) && !may_be(row.type))
        doubt_keyword(keyword, "has no effect here: it applies to " + std::string(row.type) +
                                   " values, but type allows none");
  }

  void unknown_format() {
    const auto format = json::text(schema_, "format");
    if (format && !format_known(*format))
      doubt("/format", true, "the format " + shown_name(*format) + " is not known and not checked",
            format->size() > kMostWord ? std::nullopt : nearest(*format, format_names()));
  }

  void without_partner() {
    const auto has = [&](std::string_view name) {
      return keywords_.has(name) && json::child(schema_, name) != nullptr;
    };
    for (const std::string_view part : {"then", "else"})
      if (has(part) && !has("if"))
        doubt_keyword(part, "has no effect without if");
    // Later, what it looks at counts for `unevaluatedProperties`.
    if (has("if") && !has("then") && !has("else") && keywords_.draft < SchemaDraft::draft2019_09)
      doubt_keyword("if", "has no effect without then or else");
    const Value* const items = json::child(schema_, "items");
    for (const std::string_view bound : {"minContains", "maxContains"})
      if (has(bound) && !has("contains"))
        doubt_keyword(bound, "has no effect without contains");
    if (has("additionalItems") && (items == nullptr || !items->IsArray()))
      doubt_keyword("additionalItems", "has no effect unless items is a list of schemas");
  }

  /// Members that are required but forbidden.
  void impossible_members() {
    const Value* const additional = json::child(schema_, "additionalProperties");
    const Value* const required = json::child(schema_, "required");
    const Value* const properties = json::child(schema_, "properties");
    if (additional == nullptr || !additional->IsFalse() || required == nullptr ||
        !required->IsArray() || json::child(schema_, "patternProperties") != nullptr)
      return;
    for (rapidjson::SizeType i = 0; i < required->Size() && !full(); ++i) {
      const auto name = json::text((*required)[i]);
      if (!name || (properties != nullptr && json::child(*properties, *name) != nullptr))
        continue;
      std::vector<std::string> names;
      // A suggestion compares every letter with every letter.
      constexpr rapidjson::SizeType kMostCompared = 1000;
      if (properties != nullptr && properties->IsObject() &&
          properties->MemberCount() <= kMostCompared && name->size() <= kMostWord)
        for (const auto& member : properties->GetObject())
          names.emplace_back(json::name(member.name));
      doubt("/required/" + std::to_string(i), false,
            shown_name(*name) + " is required, but additionalProperties forbids it",
            nearest(*name, names));
    }
  }

  const SchemaPlace& place_;
  const Value& schema_;
  const SchemaKeywords& keywords_;
  std::vector<Doubt> doubts_;
};

}  // namespace

std::vector<Doubt> lint_schema(const SchemaPlace& place, const SchemaKeywords& keywords) {
  if (!place.value->IsObject())
    return {};
  return Lint(place, keywords).all();
}

Findings located(std::vector<Doubt> doubts, const Document& document) {
  const bool more = doubts.size() > kMaxDoubts;
  const std::size_t beyond = more ? doubts.size() - kMaxDoubts : 0;
  doubts.resize(doubts.size() - beyond);
  std::vector<Document::Wanted> wanted;
  wanted.reserve(doubts.size());
  for (const Doubt& doubt : doubts)
    wanted.push_back({doubt.finding.pointer, doubt.key});
  const std::vector<Span> spans = document.locate(wanted);
  Findings out;
  for (std::size_t i = 0; i < doubts.size(); ++i) {
    out.push_back(std::move(doubts[i].finding));
    out.back().span = spans[i];
  }
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
    return a.span.begin.offset < b.span.begin.offset;
  });
  if (more)
    out.push_back({.severity = Severity::warning,
                   .rule = "schema/lint",
                   .message = "at least " + count_words(beyond, "more doubt", "more doubts"),
                   .span = out.back().span});
  return out;
}

}  // namespace baton
