// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds schemas by their place, `$id` and anchor, and follows references between documents.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/schema/schema.h"
#include "base/schema/schema_keywords.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// The place of a schema, and how references in it are resolved.
struct SchemaPlace {
  const Value* value = nullptr;
  std::size_t document = 0;  ///< index into the documents
  std::string pointer;       ///< in that document
  std::string base;          ///< the URI that references are relative to
};

/// A schema that a `$dynamicRef` may lead to. The name of a `$recursiveAnchor` is "".
struct DynamicAnchor {
  std::string name;
  SchemaPlace place;
};

/// Knows every schema of every document read so far. Fetches a document when a reference first
/// needs it.
class SchemaIndex {
 public:
  SchemaIndex(const SchemaFetch& fetch, bool checked) : fetch_(fetch), checked_(checked) {}

  /// Reads a document and returns its root. `otherwise` has the keywords of a document without
  /// `$schema`: those of the document which refers to it.
  Result<SchemaPlace> add(std::string text, const std::string& uri,
                          const SchemaKeywords& otherwise = {});
  /// The target of a `$ref` at `from`. Does not follow chains.
  Result<SchemaPlace> follow(const SchemaPlace& from, std::string_view reference);
  /// A schema inside another one.
  SchemaPlace below(const SchemaPlace& parent, const std::vector<std::string>& tokens);

  const SchemaKeywords& keywords(const SchemaPlace& place) const {
    return keywords_[place.document];
  }
  /// Those of the documents read so far.
  const std::vector<DynamicAnchor>& dynamic_anchors() const { return dynamic_anchors_; }
  /// `path:line:column`, for messages.
  std::string where(const SchemaPlace& place, std::string_view keyword = {}) const;
  /// `#/pointer`, with the URI before it except for the first document.
  std::string label(const SchemaPlace& place) const;

  std::vector<std::shared_ptr<const Document>>& documents() { return documents_; }

 private:
  struct Meta {
    SchemaKeywords keywords;
    std::shared_ptr<const SchemaTree> own;  ///< a meta-schema that is none of the drafts'
  };
  Result<Meta> meta_of(const Document& document, const std::string& uri,
                       const SchemaKeywords& otherwise);
  Result<Meta> own_meta(const std::string& name);
  Result<Meta> read_own_meta(const std::string& name) const;
  void index(const SchemaPlace& place);
  void index_anchors(const SchemaPlace& place);
  void index_parts(const SchemaPlace& place);
  void look_for_other_draft(const SchemaPlace& place);
  void name(const std::string& uri, const SchemaPlace& place, std::string_view keyword);
  const Value* part(const Value& value, const std::string& token);
  Result<SchemaPlace> pointed(const SchemaPlace& root, const std::string& pointer);
  tl::unexpected<Error> faulty() const;

  const SchemaFetch& fetch_;
  bool checked_;
  std::vector<std::shared_ptr<const Document>> documents_;
  std::vector<std::string> uris_;
  std::vector<SchemaKeywords> keywords_;
  std::map<std::string, Meta> own_metas_;  ///< by URI
  std::vector<DynamicAnchor> dynamic_anchors_;
  std::map<std::string, SchemaPlace> resources_;         ///< by absolute URI with fragment
  std::unordered_map<const Value*, std::string> bases_;  ///< of the indexed schemas
  /// The members of large objects, for repeated look-ups.
  std::unordered_map<const Value*, std::unordered_map<std::string_view, const Value*>> members_;
  /// The first two schemas found that have the same name, or the first part of another draft.
  std::optional<Error> fault_;
};

}  // namespace baton
