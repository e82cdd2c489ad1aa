// SPDX-License-Identifier: Apache-2.0
#pragma once

// The drafts of JSON Schema: their names, and which keywords have a meaning in which of them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// A published draft, with its meta-schema: the schema of its schemas.
struct DraftRow {
  std::string_view uri;  ///< of the meta-schema, without a fragment
  SchemaDraft draft;
  std::string_view name;
  std::string_view file;  ///< the meta-schema within this binary
};
/// The draft of a `$schema`, also with `#` at its end, or with http for https or the reverse;
/// nullptr: of none.
const DraftRow* draft_row(std::string_view uri);
const DraftRow& draft_row(SchemaDraft draft);
/// The draft whose meta-schema has a part of this URI, such as
/// `https://json-schema.org/draft/2020-12/meta/core`.
const DraftRow* draft_with_part(std::string_view uri);
/// `draft-04, draft-06, ...`, for messages.
std::string draft_names();

/// Groups of keywords, as bits. From draft 2019-09 on, a meta-schema says which of them count.
enum Vocabulary : unsigned {
  core_vocabulary = 1,
  applicator_vocabulary = 2,
  unevaluated_vocabulary = 4,
  validation_vocabulary = 8,
  note_vocabulary = 16,  ///< titles, formats and others that say nothing about validity
  every_vocabulary = 31,
};

/// The keywords that have a meaning in a schema: those of its draft, or fewer if its own
/// meta-schema says so.
struct SchemaKeywords {
  SchemaDraft draft = SchemaDraft::draft7;
  unsigned vocabularies = every_vocabulary;
  /// Whether values have to be of their `format`. From draft 2019-09 on they need not, unless a
  /// meta-schema says so.
  bool formats = true;

  static SchemaKeywords of(SchemaDraft draft);
  /// Those of the schemas of a meta-schema, by its `$vocabulary`. Errc::schema: they need a
  /// vocabulary that is not known.
  static Result<SchemaKeywords> by_meta_schema(const Value& meta_schema, SchemaDraft draft);

  /// Whether the value of a keyword is a schema, a list of schemas, or an object of schemas.
  bool holds_schema(std::string_view keyword) const;
  bool holds_schema_list(std::string_view keyword) const;
  bool holds_schema_map(std::string_view keyword) const;
  /// Whether a keyword has a meaning.
  bool has(std::string_view keyword) const;
};

}  // namespace baton
