// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the text of a schema into a tree, and reports doubts about it (lint).

#include <memory>
#include <string_view>

#include "base/schema/schema.h"
#include "base/schema/schema_index.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// Reads a schema, resolves every `$ref` (never over the network) and checks what valijson takes
/// for granted: values of keywords, patterns, circular references. Errors as for `compile_schema`.
/// `checked`: first validate the documents against their meta-schema.
Result<std::shared_ptr<const SchemaTree>> build_schema_tree(std::string_view text,
                                                            std::string_view uri,
                                                            const SchemaFetch& fetch, bool checked);

/// If there are more doubts, one finding says how many more.
constexpr std::size_t kMaxDoubts = 100;

struct Doubt {
  Finding finding;   ///< without its place
  bool key = false;  ///< it concerns the name of the member
};

/// What is doubtful about one schema without being wrong: keywords and formats that are unknown or
/// have no effect. Warnings of the rule `schema/lint`, not many more than `kMaxDoubts`.
std::vector<Doubt> lint_schema(const SchemaPlace& place, const SchemaKeywords& keywords);

/// Looks up the places of the doubts, at most `kMaxDoubts`, and adds one finding if there are more.
Findings located(std::vector<Doubt> doubts, const Document& document);

}  // namespace baton
