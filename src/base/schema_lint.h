#pragma once

#include "base/schema_index.h"

namespace baton {

/// What one may doubt about one schema of a document without its being wrong: keywords and formats
/// that nobody knows, or that cannot have an effect where they stand. Warnings of the rule
/// `schema/lint`, with places.
Findings lint_schema(const SchemaPlace& place, Draft draft, const Document& document);

}  // namespace baton
