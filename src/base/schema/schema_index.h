#pragma once

// Finds schemas by their place, `$id` and anchor, and follows references between documents.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/schema/schema.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// The place of a schema, and how references in it are resolved.
struct SchemaPlace {
  const Value* value = nullptr;
  std::size_t document = 0;  ///< index into the documents
  std::string pointer;       ///< in that document
  std::string base;          ///< the URI that references are relative to
};

/// Knows every schema of every document read so far. Fetches a document when a reference first
/// needs it.
class SchemaIndex {
 public:
  SchemaIndex(const SchemaFetch& fetch, bool checked) : fetch_(fetch), checked_(checked) {}

  /// Reads a document and returns its root. `otherwise` is the draft of a document without
  /// `$schema`: that of the document which refers to it.
  Result<SchemaPlace> add(std::string text, const std::string& uri,
                          SchemaDraft otherwise = SchemaDraft::draft7);
  /// The target of a `$ref` at `from`. Does not follow chains.
  Result<SchemaPlace> follow(const SchemaPlace& from, std::string_view reference);
  /// A schema inside another one.
  SchemaPlace below(const SchemaPlace& parent, const std::vector<std::string>& tokens);

  SchemaDraft draft(const SchemaPlace& place) const { return drafts_[place.document]; }
  /// `path:line:column`, for messages.
  std::string where(const SchemaPlace& place, std::string_view keyword = {}) const;
  /// `#/pointer`, with the URI before it except for the first document.
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
  std::map<std::string, SchemaPlace> resources_;         ///< by absolute URI with fragment
  std::unordered_map<const Value*, std::string> bases_;  ///< of the indexed schemas
  /// The members of large objects, for repeated look-ups.
  std::unordered_map<const Value*, std::unordered_map<std::string_view, const Value*>> members_;
  std::optional<Error> clash_;  ///< the first two schemas found that have the same name
};

/// Whether the value of a keyword is a schema, a list of schemas, or an object of schemas.
bool holds_schema(std::string_view keyword, SchemaDraft draft);
bool holds_schema_list(std::string_view keyword, SchemaDraft draft);
bool holds_schema_map(std::string_view keyword, SchemaDraft draft);
/// The keywords of a draft that hold no schema.
bool plain_keyword(std::string_view keyword, SchemaDraft draft);

}  // namespace baton
