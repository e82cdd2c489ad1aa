#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/schema/schema.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// One place that holds a schema: where it is, and how references in it are meant.
struct SchemaPlace {
  const Value* value = nullptr;
  std::size_t document = 0;  ///< index into the documents
  std::string pointer;       ///< in that document
  std::string base;          ///< URI that references are relative to
};

/// Knows every schema of every document that was read, by place, by `$id` and by anchor, and
/// follows references between them. Documents are fetched when a reference first asks for them.
class SchemaIndex {
 public:
  SchemaIndex(const SchemaFetch& fetch, bool checked) : fetch_(fetch), checked_(checked) {}

  /// Reads a document and gives its root.
  Result<SchemaPlace> add(std::string text, const std::string& uri);
  /// Where a `$ref` leads that stands at `from`. Chains are not followed.
  Result<SchemaPlace> follow(const SchemaPlace& from, std::string_view reference);
  /// A schema below another one.
  SchemaPlace below(const SchemaPlace& parent, const std::vector<std::string>& tokens);

  SchemaDraft draft(const SchemaPlace& place) const { return drafts_[place.document]; }
  /// `path:line:column` of a place, for messages.
  std::string where(const SchemaPlace& place, std::string_view keyword = {}) const;
  /// `#/pointer`, with the URI in front for all but the first document.
  std::string label(const SchemaPlace& place) const;

  std::vector<std::shared_ptr<const Document>>& documents() { return documents_; }

 private:
  void index(const SchemaPlace& place, SchemaDraft draft);
  void index_parts(const SchemaPlace& place, SchemaDraft draft);
  void name(const std::string& uri, const SchemaPlace& place, std::string_view keyword);
  const Value* part(const Value& value, const std::string& token);
  Result<SchemaPlace> pointed(const SchemaPlace& root, const std::string& pointer);
  tl::unexpected<Error> unclear() const;

  const SchemaFetch& fetch_;
  bool checked_;
  std::vector<std::shared_ptr<const Document>> documents_;
  std::vector<std::string> uris_;
  std::vector<SchemaDraft> drafts_;
  std::map<std::string, SchemaPlace> resources_;         ///< by absolute URI, fragment included
  std::unordered_map<const Value*, std::string> bases_;  ///< of the schemas that were indexed
  /// The members of large objects, which are looked up again and again.
  std::unordered_map<const Value*, std::unordered_map<std::string_view, const Value*>> members_;
  std::optional<Error> clash_;  ///< of two names; the first that was seen
};

/// The values of these keywords are schemas, lists of schemas, or objects of schemas.
bool holds_schema(std::string_view keyword, SchemaDraft draft);
bool holds_schema_list(std::string_view keyword, SchemaDraft draft);
bool holds_schema_map(std::string_view keyword, SchemaDraft draft);
/// Keywords of a draft that hold no schema.
bool plain_keyword(std::string_view keyword, SchemaDraft draft);

}  // namespace baton
