// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema_index.h"

#include "base/embedded.h"
#include "base/schema/pattern.h"
#include "base/schema/schema_front.h"
#include "base/schema/schema_walk.h"
#include "base/schema/uri.h"
#include "base/text.h"

namespace baton {
namespace {

constexpr LoadLimits kSchemaLimits{.max_bytes = 4U << 20U, .max_depth = 200};

std::string position_text(const std::string& uri, const Span& span) {
  return uri + ":" + std::to_string(span.begin.line) + ":" + std::to_string(span.begin.column);
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

/// Validates a schema against its meta-schema.
Result<void> check_against(const SchemaTree& meta, const Document& document,
                           const std::string& uri) {
  const SchemaLimits limits;
  try {
    if (SchemaWalk(meta, limits.steps_for(document.text().size())).holds(0, document.root()))
      return {};
  } catch (const SchemaExhausted&) {
    // The explanation gives the reason.
  }
  const Findings findings = explain(meta, document, limits);
  if (findings.empty())
    return fail(Errc::schema, "not a JSON Schema", uri);
  const Finding& first = findings.front();
  return fail(Errc::schema,
              "not a JSON Schema: " + pattern_fault(document, first).value_or(first.message),
              position_text(uri, first.span));
}

/// The same, for the meta-schema of a draft.
Result<void> check_against(const DraftRow& draft, const Document& document,
                           const std::string& uri) {
  const std::string_view* text = embedded_file(draft.file);
  if (text == nullptr || draft.uri == split_fragment(uri).document)
    return {};
  const SchemaFetch none = [](std::string_view asked) -> Result<std::string> {
    return fail(Errc::not_found, "no such schema: " + std::string(asked));
  };
  const auto meta = build_schema_tree(*text, draft.uri, none, false);
  if (!meta)
    return tl::unexpected(meta.error());
  return check_against(**meta, document, uri);
}

}  // namespace

/// A meta-schema that is none of the drafts': it says which keywords its schemas have.
Result<SchemaIndex::Meta> SchemaIndex::read_own_meta(const std::string& name) const {
  // Otherwise two of them could refer to each other without end.
  if (!checked_)
    return fail(Errc::schema, "a meta-schema may only refer to schemas of these drafts");
  auto text = fetch_(name);
  if (!text)
    return tl::unexpected(text.error());
  const auto document = load_document(*text, Format::json, kSchemaLimits);
  if (!document)
    return fail(Errc::schema, document.error().findings.front().message);
  const DraftRow* const row =
      draft_row(json::text((*document)->root(), "$schema").value_or(std::string_view{}));
  if (row == nullptr)
    return fail(Errc::schema, "its own $schema names none of them either");
  if (auto good = check_against(*row, **document, name); !good)
    return fail(Errc::schema, describe(good.error()));
  auto keywords = SchemaKeywords::by_meta_schema((*document)->root(), row->draft);
  if (!keywords)
    return tl::unexpected(keywords.error());
  auto tree = build_schema_tree(*text, name, fetch_, false);
  if (!tree)
    return fail(Errc::schema, describe(tree.error()));
  return Meta{*keywords, std::move(*tree)};
}

/// Many documents may name it, so it is read once.
Result<SchemaIndex::Meta> SchemaIndex::own_meta(const std::string& name) {
  const std::string uri = split_fragment(name).document;
  if (const auto known = own_metas_.find(uri); known != own_metas_.end())
    return known->second;
  auto meta = read_own_meta(uri);
  if (meta)
    own_metas_.emplace(uri, *meta);
  return meta;
}

Result<SchemaIndex::Meta> SchemaIndex::meta_of(const Document& document, const std::string& uri,
                                               const SchemaKeywords& otherwise) {
  const auto name = json::text(document.root(), "$schema");
  if (!name)
    return Meta{otherwise, nullptr};
  if (const DraftRow* row = draft_row(*name))
    return Meta{SchemaKeywords::of(row->draft), nullptr};
  auto own = own_meta(resolve_uri(uri, *name));
  if (!own)
    return fail(Errc::schema,
                "$schema is " + printable(json::quote(*name), 100) + ", which is none of " +
                    draft_names() + " (such as \"" +
                    std::string(draft_row(SchemaDraft::draft2020_12).uri) +
                    "\"), and cannot be used as a meta-schema of your own: " + own.error().message,
                position_text(uri, document.locate("/$schema")));
  return own;
}

Result<SchemaPlace> SchemaIndex::add(std::string text, const std::string& uri,
                                     const SchemaKeywords& otherwise) {
  const std::string address = split_fragment(uri).document;
  auto document = load_document(std::move(text), Format::json, kSchemaLimits);
  if (!document) {
    const Finding& finding = document.error().findings.front();
    return fail(Errc::schema, finding.message, position_text(address, finding.span));
  }
  const auto meta = meta_of(**document, address, otherwise);
  if (!meta)
    return tl::unexpected(meta.error());
  if (checked_ && !is_own(address, (*document)->text())) {
    auto good = meta->own ? check_against(*meta->own, **document, address)
                          : check_against(draft_row(meta->keywords.draft), **document, address);
    if (!good)
      return tl::unexpected(good.error());
  }
  const SchemaPlace root{
      .value = &(*document)->root(), .document = documents_.size(), .pointer = "", .base = address};
  documents_.push_back(std::move(*document));
  uris_.push_back(address);
  keywords_.push_back(meta->keywords);
  resources_.emplace(address, root);
  index(root);
  if (fault_)
    return tl::unexpected(*fault_);
  SchemaPlace out = root;
  out.base = bases_[root.value];
  return out;
}

/// Two schemas with the same name are an error, unless they are equal.
void SchemaIndex::name(const std::string& uri, const SchemaPlace& place, std::string_view keyword) {
  const auto [known, fresh] = resources_.emplace(uri, place);
  if (fresh || fault_ || json::equal(*known->second.value, *place.value))
    return;
  const std::string here = where(place, keyword);
  fault_ = Error{Errc::schema,
                 "two schemas are called " + printable(json::quote(uri), 200) + ": at " +
                     where(known->second, keyword) + " and at " + here,
                 here};
}

/// A part of another draft would need another meta-schema and other keywords.
void SchemaIndex::look_for_other_draft(const SchemaPlace& place) {
  const Document& document = *documents_[place.document];
  const auto name = json::text(*place.value, "$schema");
  if (!name || fault_ || place.value == &document.root())
    return;
  const auto whole = json::text(document.root(), "$schema");
  const DraftRow* const row = draft_row(*name);
  if (whole == name || (row != nullptr && row->draft == keywords(place).draft))
    return;
  fault_ = Error{Errc::schema,
                 "the part of a schema has another $schema, " + printable(json::quote(*name), 100) +
                     ", than the whole; put it into a file of its own, or leave $schema out",
                 where(place, "$schema")};
}

/// Notes the base and the names of a schema. Recursive; the depth is limited when the text is
/// loaded.
void SchemaIndex::index(const SchemaPlace& place) {
  if (bases_.contains(place.value))
    return;
  SchemaPlace here = place;
  const SchemaDraft draft = keywords(place).draft;
  // Beside a $ref, other keywords have no meaning before draft 2019-09.
  const bool reference =
      draft < SchemaDraft::draft2019_09 && json::text(*place.value, "$ref").has_value();
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
  look_for_other_draft(here);
  if (draft >= SchemaDraft::draft2019_09)
    index_anchors(here);
  if (!reference)
    index_parts(here);
}

void SchemaIndex::index_anchors(const SchemaPlace& place) {
  for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
    const auto anchor = json::text(*place.value, keyword);
    if (!anchor || !keywords(place).has(keyword))
      continue;
    name(place.base + "#" + std::string(*anchor), place, keyword);
    if (keyword == "$dynamicAnchor")
      dynamic_anchors_.push_back({std::string(*anchor), place});
  }
  if (keywords(place).has("$recursiveAnchor") &&
      json::boolean(*place.value, "$recursiveAnchor").value_or(false))
    dynamic_anchors_.push_back({"", place});
}

void SchemaIndex::index_parts(const SchemaPlace& place) {
  if (!place.value->IsObject())
    return;
  const SchemaKeywords& known = keywords(place);
  const auto descend = [&](const Value& value, std::string pointer) {
    SchemaPlace inner = place;
    inner.value = &value;
    inner.pointer = std::move(pointer);
    index(inner);
  };
  for (const auto& member : place.value->GetObject()) {
    const std::string_view name = json::name(member.name);
    const std::string pointer = place.pointer + "/" + json::pointer_token(name);
    if (member.value.IsArray() && known.holds_schema_list(name)) {
      for (rapidjson::SizeType i = 0; i < member.value.Size(); ++i)
        descend(member.value[i], pointer + "/" + std::to_string(i));
    } else if (member.value.IsObject() && known.holds_schema_map(name)) {
      for (const auto& entry : member.value.GetObject())
        descend(entry.value, pointer + "/" + json::pointer_token(json::name(entry.name)));
    } else if (known.holds_schema(name)) {
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
  index(out);
  if (fault_)
    return faulty();
  out.base = bases_[out.value];
  return out;
}

/// The fault without its place: the message names what matters, and the caller puts the place of
/// the reference first.
tl::unexpected<Error> SchemaIndex::faulty() const {
  return fail(fault_->code, fault_->message);
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
    const DraftRow* const whole = draft_row(target.document);
    const DraftRow* const row = whole != nullptr ? whole : draft_with_part(target.document);
    const std::string_view* meta = row == nullptr ? nullptr : embedded_file(row->file);
    auto text = meta == nullptr ? fetch_(target.document) : Result<std::string>(std::string(*meta));
    if (!text)
      return fail(Errc::schema, "the reference " + printable(json::quote(reference), 200) +
                                    " leads nowhere: " + text.error().message);
    const std::string address =
        whole == nullptr && row != nullptr ? std::string(row->uri) : target.document;
    if (auto added = add(std::move(*text), address, keywords(from)); !added)
      return fault_ ? Result<SchemaPlace>(faulty()) : added;
    found = resources_.find(target.document);
    if (found == resources_.end())
      return fail(Errc::schema, "the reference " + printable(json::quote(reference), 200) +
                                    " leads nowhere: " + std::string(row->name) +
                                    " has no such part");
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
