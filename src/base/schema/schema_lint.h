#pragma once

#include "base/schema/schema_index.h"

namespace baton {

/// More than anybody reads.
constexpr std::size_t kMaxDoubts = 100;

struct Doubt {
  Finding finding;   ///< without its place
  bool key = false;  ///< it is about the name of the member
};

/// What one may doubt about one schema of a document without its being wrong: keywords and formats
/// that nobody knows, or that cannot have an effect where they stand. Warnings of the rule
/// `schema/lint`; not many more than `kMaxDoubts`.
std::vector<Doubt> lint_schema(const SchemaPlace& place, SchemaDraft draft);

/// Looks up the places of the doubts, at most `kMaxDoubts` and one that says that there are more.
Findings located(std::vector<Doubt> doubts, const Document& document);

}  // namespace baton
