// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema_keywords.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::array kDrafts = {
    DraftRow{"http://json-schema.org/draft-04/schema", SchemaDraft::draft4, "draft-04",
             "schemas/metaschemas/draft-04.json"},
    DraftRow{"http://json-schema.org/draft-06/schema", SchemaDraft::draft6, "draft-06",
             "schemas/metaschemas/draft-06.json"},
    DraftRow{"http://json-schema.org/draft-07/schema", SchemaDraft::draft7, "draft-07",
             "schemas/metaschemas/draft-07.json"},
    DraftRow{"https://json-schema.org/draft/2019-09/schema", SchemaDraft::draft2019_09,
             "draft 2019-09", "schemas/metaschemas/draft-2019-09.json"},
    DraftRow{"https://json-schema.org/draft/2020-12/schema", SchemaDraft::draft2020_12,
             "draft 2020-12", "schemas/metaschemas/draft-2020-12.json"},
};

/// A keyword, and the drafts and vocabulary that have it.
struct KeywordRow {
  std::string_view name;
  Vocabulary vocabulary;
  SchemaDraft since = SchemaDraft::draft4;
  SchemaDraft until = SchemaDraft::draft2020_12;
};
constexpr std::array kSchemaKeywords = {
    KeywordRow{"additionalItems", applicator_vocabulary, SchemaDraft::draft4,
               SchemaDraft::draft2019_09},
    KeywordRow{"additionalProperties", applicator_vocabulary},
    KeywordRow{"contains", applicator_vocabulary, SchemaDraft::draft6},
    KeywordRow{"contentSchema", note_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"else", applicator_vocabulary, SchemaDraft::draft7},
    KeywordRow{"if", applicator_vocabulary, SchemaDraft::draft7},
    KeywordRow{"items", applicator_vocabulary},
    KeywordRow{"not", applicator_vocabulary},
    KeywordRow{"propertyNames", applicator_vocabulary, SchemaDraft::draft6},
    KeywordRow{"then", applicator_vocabulary, SchemaDraft::draft7},
    KeywordRow{"unevaluatedItems", unevaluated_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"unevaluatedProperties", unevaluated_vocabulary, SchemaDraft::draft2019_09},
};
constexpr std::array kListKeywords = {
    KeywordRow{"allOf", applicator_vocabulary},
    KeywordRow{"anyOf", applicator_vocabulary},
    KeywordRow{"items", applicator_vocabulary, SchemaDraft::draft4, SchemaDraft::draft2019_09},
    KeywordRow{"oneOf", applicator_vocabulary},
    KeywordRow{"prefixItems", applicator_vocabulary, SchemaDraft::draft2020_12},
};
// `definitions` and `dependencies` have other names since draft 2019-09. Many schemas still use
// them, the meta-schemas allow them, and they can mean nothing else.
constexpr std::array kMapKeywords = {
    KeywordRow{"$defs", core_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"definitions", core_vocabulary},
    KeywordRow{"dependencies", applicator_vocabulary},
    KeywordRow{"dependentSchemas", applicator_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"patternProperties", applicator_vocabulary},
    KeywordRow{"properties", applicator_vocabulary},
};
constexpr std::array kPlainKeywords = {
    KeywordRow{"$anchor", core_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"$comment", core_vocabulary},
    KeywordRow{"$dynamicAnchor", core_vocabulary, SchemaDraft::draft2020_12},
    KeywordRow{"$dynamicRef", core_vocabulary, SchemaDraft::draft2020_12},
    KeywordRow{"$id", core_vocabulary, SchemaDraft::draft6},
    KeywordRow{"$recursiveAnchor", core_vocabulary, SchemaDraft::draft2019_09,
               SchemaDraft::draft2019_09},
    KeywordRow{"$recursiveRef", core_vocabulary, SchemaDraft::draft2019_09,
               SchemaDraft::draft2019_09},
    KeywordRow{"$ref", core_vocabulary},
    KeywordRow{"$schema", core_vocabulary},
    KeywordRow{"$vocabulary", core_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"const", validation_vocabulary, SchemaDraft::draft6},
    KeywordRow{"contentEncoding", note_vocabulary},
    KeywordRow{"contentMediaType", note_vocabulary},
    KeywordRow{"default", note_vocabulary},
    KeywordRow{"dependentRequired", validation_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"deprecated", note_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"description", note_vocabulary},
    KeywordRow{"enum", validation_vocabulary},
    KeywordRow{"examples", note_vocabulary},
    KeywordRow{"exclusiveMaximum", validation_vocabulary},
    KeywordRow{"exclusiveMinimum", validation_vocabulary},
    KeywordRow{"format", note_vocabulary},
    KeywordRow{"id", core_vocabulary, SchemaDraft::draft4, SchemaDraft::draft7},
    KeywordRow{"maxContains", validation_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"maxItems", validation_vocabulary},
    KeywordRow{"maxLength", validation_vocabulary},
    KeywordRow{"maxProperties", validation_vocabulary},
    KeywordRow{"maximum", validation_vocabulary},
    KeywordRow{"minContains", validation_vocabulary, SchemaDraft::draft2019_09},
    KeywordRow{"minItems", validation_vocabulary},
    KeywordRow{"minLength", validation_vocabulary},
    KeywordRow{"minProperties", validation_vocabulary},
    KeywordRow{"minimum", validation_vocabulary},
    KeywordRow{"multipleOf", validation_vocabulary},
    KeywordRow{"pattern", validation_vocabulary},
    KeywordRow{"patternErrorMessage", note_vocabulary},
    KeywordRow{"readOnly", note_vocabulary},
    KeywordRow{"required", validation_vocabulary},
    KeywordRow{"title", note_vocabulary},
    KeywordRow{"type", validation_vocabulary},
    KeywordRow{"uniqueItems", validation_vocabulary},
    KeywordRow{"writeOnly", note_vocabulary},
};

template <std::size_t Size>
bool listed(const std::array<KeywordRow, Size>& rows, std::string_view keyword,
            const SchemaKeywords& keywords) {
  return std::any_of(rows.begin(), rows.end(), [&](const KeywordRow& row) {
    return row.name == keyword && keywords.draft >= row.since && keywords.draft <= row.until &&
           (keywords.vocabularies & row.vocabulary) != 0;
  });
}

/// `formats`: a schema with this vocabulary checks formats, if it has to have the vocabulary or
/// (`always`) also if it may have it.
enum class Formats { no, if_needed, always };

/// The names of the vocabularies below `https://json-schema.org/draft/DRAFT/vocab/`.
struct VocabularyRow {
  std::string_view name;
  unsigned bits;
  Formats formats = Formats::no;
};
constexpr std::array k2019 = {
    VocabularyRow{"core", core_vocabulary},
    VocabularyRow{"applicator", applicator_vocabulary | unevaluated_vocabulary},
    VocabularyRow{"validation", validation_vocabulary},
    VocabularyRow{"meta-data", note_vocabulary},
    VocabularyRow{"format", note_vocabulary, Formats::if_needed},
    VocabularyRow{"content", note_vocabulary},
};
constexpr std::array k2020 = {
    VocabularyRow{"core", core_vocabulary},
    VocabularyRow{"applicator", applicator_vocabulary},
    VocabularyRow{"unevaluated", unevaluated_vocabulary},
    VocabularyRow{"validation", validation_vocabulary},
    VocabularyRow{"meta-data", note_vocabulary},
    VocabularyRow{"format-annotation", note_vocabulary},
    VocabularyRow{"format-assertion", note_vocabulary, Formats::always},
    VocabularyRow{"content", note_vocabulary},
};

template <std::size_t Size>
const VocabularyRow* vocabulary_row(const std::array<VocabularyRow, Size>& rows,
                                    std::string_view folder, std::string_view uri) {
  if (!uri.starts_with(folder))
    return nullptr;
  const auto* const row = std::find_if(rows.begin(), rows.end(), [&](const VocabularyRow& each) {
    return each.name == uri.substr(folder.size());
  });
  return row == rows.end() ? nullptr : &*row;
}

const VocabularyRow* vocabulary_row(std::string_view uri, SchemaDraft draft) {
  return draft == SchemaDraft::draft2019_09
             ? vocabulary_row(k2019, "https://json-schema.org/draft/2019-09/vocab/", uri)
             : vocabulary_row(k2020, "https://json-schema.org/draft/2020-12/vocab/", uri);
}

}  // namespace

const DraftRow* draft_row(std::string_view uri) {
  constexpr std::string_view kHost = "json-schema.org/";
  const auto path = [&](std::string_view of) {
    for (const std::string_view scheme : {"https://", "http://"})
      if (of.starts_with(scheme) && of.substr(scheme.size()).starts_with(kHost))
        return of.substr(scheme.size() + kHost.size());
    return std::string_view{};
  };
  std::string_view asked = path(uri);
  if (asked.ends_with('#'))
    asked.remove_suffix(1);
  for (const DraftRow& row : kDrafts)
    if (asked == path(row.uri))
      return &row;
  return nullptr;
}

const DraftRow& draft_row(SchemaDraft draft) {
  return *std::find_if(kDrafts.begin(), kDrafts.end(),
                       [&](const DraftRow& row) { return row.draft == draft; });
}

const DraftRow* draft_with_part(std::string_view uri) {
  for (const DraftRow& row : kDrafts) {
    const std::string_view folder =
        row.uri.substr(0, row.uri.size() - std::string_view("schema").size());
    if (row.draft >= SchemaDraft::draft2019_09 && uri.starts_with(std::string(folder) + "meta/"))
      return &row;
  }
  return nullptr;
}

std::string draft_names() {
  std::vector<std::string> names;
  for (const DraftRow& row : kDrafts)
    names.emplace_back(row.name);
  return join(names, ", ");
}

SchemaKeywords SchemaKeywords::of(SchemaDraft draft) {
  return {.draft = draft, .formats = draft <= SchemaDraft::draft7};
}

Result<SchemaKeywords> SchemaKeywords::by_meta_schema(const Value& meta_schema, SchemaDraft draft) {
  SchemaKeywords out = of(draft);
  const Value* const vocabularies = json::child(meta_schema, "$vocabulary");
  if (draft < SchemaDraft::draft2019_09 || vocabularies == nullptr || !vocabularies->IsObject())
    return out;
  out.vocabularies = core_vocabulary;
  for (const auto& member : vocabularies->GetObject()) {
    const bool needed = member.value.IsTrue();
    const VocabularyRow* const row = vocabulary_row(json::name(member.name), draft);
    if (row == nullptr && needed)
      return fail(Errc::schema, "its schemas need the vocabulary " +
                                    printable(json::quote(json::name(member.name)), 200) +
                                    ", which is not known");
    if (row == nullptr)
      continue;
    out.vocabularies |= row->bits;
    out.formats = out.formats || row->formats == Formats::always ||
                  (row->formats == Formats::if_needed && needed);
  }
  return out;
}

bool SchemaKeywords::holds_schema(std::string_view keyword) const {
  return listed(kSchemaKeywords, keyword, *this);
}
bool SchemaKeywords::holds_schema_list(std::string_view keyword) const {
  return listed(kListKeywords, keyword, *this);
}
bool SchemaKeywords::holds_schema_map(std::string_view keyword) const {
  return listed(kMapKeywords, keyword, *this);
}
bool SchemaKeywords::has(std::string_view keyword) const {
  return listed(kPlainKeywords, keyword, *this) || holds_schema(keyword) ||
         holds_schema_list(keyword) || holds_schema_map(keyword);
}

}  // namespace baton
