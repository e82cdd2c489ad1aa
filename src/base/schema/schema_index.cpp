#include "base/schema/schema_index.h"

#include <algorithm>
#include <array>

#include "base/embedded.h"
#include "base/schema/pattern.h"
#include "base/schema/schema_front.h"
#include "base/schema/schema_walk.h"
#include "base/schema/uri.h"
#include "base/text.h"

namespace baton {
namespace {

constexpr LoadLimits kSchemaLimits{.max_bytes = 4U << 20U, .max_depth = 200};

struct DraftRow {
  std::string_view uri;
  SchemaDraft draft;
  std::string_view file;
};
constexpr std::array kDrafts = {
    DraftRow{"http://json-schema.org/draft-04/schema", SchemaDraft::draft4,
             "schemas/metaschemas/draft-04.json"},
    DraftRow{"http://json-schema.org/draft-06/schema", SchemaDraft::draft6,
             "schemas/metaschemas/draft-06.json"},
    DraftRow{"http://json-schema.org/draft-07/schema", SchemaDraft::draft7,
             "schemas/metaschemas/draft-07.json"},
};

const DraftRow* draft_row(std::string_view uri) {
  // Many authors write the URI with https. It means the same draft.
  std::string plain(uri);
  if (uri.starts_with("https://json-schema.org/draft-0"))
    plain.erase(4, 1);
  uri = plain;
  for (const DraftRow& row : kDrafts)
    if (uri == row.uri ||
        (uri.size() == row.uri.size() + 1 && uri.starts_with(row.uri) && uri.back() == '#'))
      return &row;
  return nullptr;
}

/// A keyword and the first draft that knows it.
struct KeywordRow {
  std::string_view name;
  SchemaDraft since = SchemaDraft::draft4;
};
constexpr std::array kSchemaKeywords = {
    KeywordRow{"additionalItems"},
    KeywordRow{"additionalProperties"},
    KeywordRow{"contains", SchemaDraft::draft6},
    KeywordRow{"else", SchemaDraft::draft7},
    KeywordRow{"if", SchemaDraft::draft7},
    KeywordRow{"items"},
    KeywordRow{"not"},
    KeywordRow{"propertyNames", SchemaDraft::draft6},
    KeywordRow{"then", SchemaDraft::draft7},
};
constexpr std::array kListKeywords = {KeywordRow{"allOf"}, KeywordRow{"anyOf"}, KeywordRow{"items"},
                                      KeywordRow{"oneOf"}};
constexpr std::array kMapKeywords = {KeywordRow{"definitions"}, KeywordRow{"dependencies"},
                                     KeywordRow{"patternProperties"}, KeywordRow{"properties"}};
constexpr std::array kPlainKeywords = {
    KeywordRow{"$comment"},
    KeywordRow{"$id", SchemaDraft::draft6},
    KeywordRow{"$ref"},
    KeywordRow{"$schema"},
    KeywordRow{"const", SchemaDraft::draft6},
    KeywordRow{"contentEncoding"},
    KeywordRow{"contentMediaType"},
    KeywordRow{"default"},
    KeywordRow{"description"},
    KeywordRow{"enum"},
    KeywordRow{"examples"},
    KeywordRow{"exclusiveMaximum"},
    KeywordRow{"exclusiveMinimum"},
    KeywordRow{"format"},
    KeywordRow{"id"},
    KeywordRow{"maxItems"},
    KeywordRow{"maxLength"},
    KeywordRow{"maxProperties"},
    KeywordRow{"maximum"},
    KeywordRow{"minItems"},
    KeywordRow{"minLength"},
    KeywordRow{"minProperties"},
    KeywordRow{"minimum"},
    KeywordRow{"multipleOf"},
    KeywordRow{"pattern"},
    KeywordRow{"patternErrorMessage"},
    KeywordRow{"readOnly"},
    KeywordRow{"required"},
    KeywordRow{"title"},
    KeywordRow{"type"},
    KeywordRow{"uniqueItems"},
    KeywordRow{"writeOnly"},
};

template <std::size_t Size>
bool listed(const std::array<KeywordRow, Size>& rows, std::string_view keyword, SchemaDraft draft) {
  return std::any_of(rows.begin(), rows.end(), [&](const KeywordRow& row) {
    return row.name == keyword && draft >= row.since;
  });
}

std::string position_text(const std::string& uri, const Span& span) {
  return uri + ":" + std::to_string(span.begin.line) + ":" + std::to_string(span.begin.column);
}

Result<SchemaDraft> draft_of(const Document& document, const std::string& uri,
                             SchemaDraft otherwise) {
  const auto name = json::text(document.root(), "$schema");
  if (!name)
    return otherwise;
  if (const DraftRow* row = draft_row(*name))
    return row->draft;
  return fail(Errc::schema,
              "$schema is " + printable(json::quote(*name), 100) +
                  ", which is not supported; draft-04, draft-06 and draft-07 are, such as "
                  "\"http://json-schema.org/draft-07/schema#\"",
              position_text(uri, document.locate("/$schema")));
}

/// Whether the schema is part of this binary. A test checks these against their meta-schemas, so
/// baton does not check them again.
bool is_own(const std::string& uri, std::string_view text) {
  for (const std::string& path : {uri, "schemas/" + uri + ".schema.json"})
    if (const auto* const own = embedded_file(path); own != nullptr && *own == text)
      return true;
  return false;
}

/// Compiles a faulty pattern again for its reason, because "not a regular expression" does not
/// help.
std::optional<std::string> pattern_fault(const Document& document, const Finding& finding) {
  std::optional<std::string> source;
  if (finding.rule == "schema/format" && finding.expected == "regex") {
    if (const Value* const value = json::at(document.root(), finding.pointer); value != nullptr)
      source = json::text(*value);
  } else if (finding.rule == "schema/propertyNames") {
    // Only the member names of patternProperties are checked by a meta-schema.
    if (const auto tokens = json::pointer_tokens(finding.pointer); tokens && !tokens->empty())
      source = tokens->back();
  }
  if (!source)
    return std::nullopt;
  const auto pattern = Pattern::compile(*source);
  return pattern ? std::nullopt : std::optional(pattern.error().message);
}

/// Validates a schema against the meta-schema of its draft.
Result<void> check_meta(const Document& document, SchemaDraft draft, const std::string& uri) {
  const auto* const row = std::find_if(kDrafts.begin(), kDrafts.end(),
                                       [&](const DraftRow& r) { return r.draft == draft; });
  const std::string_view* text = embedded_file(row->file);
  if (text == nullptr || row->uri == split_fragment(uri).document)
    return {};
  const SchemaFetch none = [](std::string_view asked) -> Result<std::string> {
    return fail(Errc::not_found, "no such schema: " + std::string(asked));
  };
  const auto meta = build_schema_tree(*text, row->uri, none, false);
  if (!meta)
    return tl::unexpected(meta.error());
  const SchemaLimits limits;
  try {
    if (SchemaWalk(**meta, limits.steps_for(document.text().size())).holds(0, document.root()))
      return {};
  } catch (const SchemaExhausted&) {
    // The explanation gives the reason.
  }
  const Findings findings = explain(**meta, document, limits);
  if (findings.empty())
    return fail(Errc::schema, "not a JSON Schema", uri);
  const Finding& first = findings.front();
  return fail(Errc::schema,
              "not a JSON Schema: " + pattern_fault(document, first).value_or(first.message),
              position_text(uri, first.span));
}

}  // namespace

bool holds_schema(std::string_view keyword, SchemaDraft draft) {
  return listed(kSchemaKeywords, keyword, draft);
}
bool holds_schema_list(std::string_view keyword, SchemaDraft draft) {
  return listed(kListKeywords, keyword, draft);
}
bool holds_schema_map(std::string_view keyword, SchemaDraft draft) {
  return listed(kMapKeywords, keyword, draft);
}
bool plain_keyword(std::string_view keyword, SchemaDraft draft) {
  return listed(kPlainKeywords, keyword, draft);
}

Result<SchemaPlace> SchemaIndex::add(std::string text, const std::string& uri,
                                     SchemaDraft otherwise) {
  const std::string address = split_fragment(uri).document;
  auto document = load_document(std::move(text), Format::json, kSchemaLimits);
  if (!document) {
    const Finding& finding = document.error().findings.front();
    return fail(Errc::schema, finding.message, position_text(address, finding.span));
  }
  const auto draft = draft_of(**document, address, otherwise);
  if (!draft)
    return tl::unexpected(draft.error());
  if (checked_ && !is_own(address, (*document)->text())) {
    if (auto good = check_meta(**document, *draft, address); !good)
      return tl::unexpected(good.error());
  }
  const SchemaPlace root{
      .value = &(*document)->root(), .document = documents_.size(), .pointer = "", .base = address};
  documents_.push_back(std::move(*document));
  uris_.push_back(address);
  drafts_.push_back(*draft);
  resources_.emplace(address, root);
  index(root, *draft);
  if (clash_)
    return tl::unexpected(*clash_);
  SchemaPlace out = root;
  out.base = bases_[root.value];
  return out;
}

/// Two schemas with the same name are an error, unless they are equal.
void SchemaIndex::name(const std::string& uri, const SchemaPlace& place, std::string_view keyword) {
  const auto [known, fresh] = resources_.emplace(uri, place);
  if (fresh || clash_ || json::equal(*known->second.value, *place.value))
    return;
  const std::string here = where(place, keyword);
  clash_ = Error{Errc::schema,
                 "two schemas are called " + printable(json::quote(uri), 200) + ": at " +
                     where(known->second, keyword) + " and at " + here,
                 here};
}

/// Notes the base and the names of a schema. Recursive; the depth is limited when the text is
/// loaded.
void SchemaIndex::index(const SchemaPlace& place, SchemaDraft draft) {
  if (bases_.contains(place.value))
    return;
  SchemaPlace here = place;
  // Beside a $ref, other keywords have no meaning in these drafts.
  const bool reference = json::text(*place.value, "$ref").has_value();
  const std::string_view keyword = draft == SchemaDraft::draft4 ? "id" : "$id";
  const auto id = json::text(*place.value, keyword);
  if (id && !reference) {
    const std::string full = resolve_uri(place.base, *id);
    const SplitUri parts = split_fragment(full);
    if (parts.fragment.empty()) {
      here.base = parts.document;
      name(parts.document, here, keyword);
    } else {
      name(parts.document + "#" + parts.fragment, here, keyword);
      if (!id->starts_with('#'))
        here.base = parts.document;
    }
  }
  bases_.emplace(here.value, here.base);
  if (!reference)
    index_parts(here, draft);
}

void SchemaIndex::index_parts(const SchemaPlace& place, SchemaDraft draft) {
  if (!place.value->IsObject())
    return;
  const auto descend = [&](const Value& value, std::string pointer) {
    SchemaPlace inner = place;
    inner.value = &value;
    inner.pointer = std::move(pointer);
    index(inner, draft);
  };
  for (const auto& member : place.value->GetObject()) {
    const std::string_view name = json::name(member.name);
    const std::string pointer = place.pointer + "/" + json::pointer_token(name);
    if (member.value.IsArray() && holds_schema_list(name, draft)) {
      for (rapidjson::SizeType i = 0; i < member.value.Size(); ++i)
        descend(member.value[i], pointer + "/" + std::to_string(i));
    } else if (member.value.IsObject() && holds_schema_map(name, draft)) {
      for (const auto& entry : member.value.GetObject())
        descend(entry.value, pointer + "/" + json::pointer_token(json::name(entry.name)));
    } else if (holds_schema(name, draft)) {
      descend(member.value, pointer);
    }
  }
}

const Value* SchemaIndex::part(const Value& value, const std::string& token) {
  constexpr rapidjson::SizeType kFew = 32;
  if (!value.IsObject() || value.MemberCount() <= kFew)
    return json::at(value, "/" + json::pointer_token(token));
  const auto [known, fresh] = members_.try_emplace(&value);
  if (fresh)
    for (const auto& member : value.GetObject())
      known->second.emplace(json::name(member.name), &member.value);
  const auto found = known->second.find(token);
  return found == known->second.end() ? nullptr : found->second;
}

SchemaPlace SchemaIndex::below(const SchemaPlace& parent, const std::vector<std::string>& tokens) {
  SchemaPlace out = parent;
  for (const std::string& token : tokens) {
    out.value = part(*out.value, token);
    out.pointer += "/" + json::pointer_token(token);
    if (out.value == nullptr)
      return out;
    if (const auto base = bases_.find(out.value); base != bases_.end())
      out.base = base->second;
  }
  return out;
}

Result<SchemaPlace> SchemaIndex::pointed(const SchemaPlace& root, const std::string& pointer) {
  const auto tokens = json::pointer_tokens(pointer);
  SchemaPlace out = root;
  if (const auto base = bases_.find(root.value); base != bases_.end())
    out.base = base->second;
  if (tokens)
    out = below(out, *tokens);
  if (!tokens || out.value == nullptr)
    return fail(Errc::schema, "there is nothing at #" + printable(pointer, 200));
  // A reference may lead to a value that is not below a keyword for schemas, so it is not in the
  // index yet.
  index(out, drafts_[out.document]);
  if (clash_)
    return unclear();
  out.base = bases_[out.value];
  return out;
}

/// The clash without its place: the message names both places, and the caller puts the place of the
/// reference first.
tl::unexpected<Error> SchemaIndex::unclear() const {
  return fail(clash_->code, clash_->message);
}

Result<SchemaPlace> SchemaIndex::follow(const SchemaPlace& from, std::string_view reference) {
  const SplitUri target = split_fragment(resolve_uri(from.base, reference));
  // An anchor may have a URI that no document has.
  const bool called = !target.fragment.empty() && target.fragment.front() != '/';
  if (const auto anchor = resources_.find(target.document + "#" + target.fragment);
      called && anchor != resources_.end())
    return pointed(anchor->second, "");
  auto found = resources_.find(target.document);
  if (found == resources_.end()) {
    const DraftRow* row = draft_row(target.document);
    const std::string_view* meta = row == nullptr ? nullptr : embedded_file(row->file);
    auto text = meta == nullptr ? fetch_(target.document) : Result<std::string>(std::string(*meta));
    if (!text)
      return fail(Errc::schema, "the reference " + printable(json::quote(reference), 200) +
                                    " leads nowhere: " + text.error().message);
    if (auto added = add(std::move(*text), target.document, drafts_[from.document]); !added)
      return clash_ ? Result<SchemaPlace>(unclear()) : added;
    found = resources_.find(target.document);
  }
  if (target.fragment.empty() || target.fragment.front() == '/')
    return pointed(found->second, target.fragment);
  const auto anchor = resources_.find(target.document + "#" + target.fragment);
  if (anchor == resources_.end())
    return fail(Errc::schema, "there is no schema called #" + printable(target.fragment, 200));
  return pointed(anchor->second, "");
}

std::string SchemaIndex::where(const SchemaPlace& place, std::string_view keyword) const {
  std::string pointer = place.pointer;
  if (!keyword.empty())
    pointer += "/" + json::pointer_token(keyword);
  return position_text(uris_[place.document], documents_[place.document]->locate(pointer));
}

std::string SchemaIndex::label(const SchemaPlace& place) const {
  return (place.document == 0 ? "" : uris_[place.document]) + "#" + place.pointer;
}

}  // namespace baton
