#pragma once

#include <memory>
#include <string_view>

#include "base/schema/schema.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// Reads a schema, resolves every `$ref` (never over the network) and checks what valijson would
/// trust in: keyword values, patterns, references that run in circles. Errors as `compile_schema`.
/// `checked`: validate the documents against their meta-schema first.
Result<std::shared_ptr<const SchemaTree>> build_schema_tree(std::string_view text,
                                                            std::string_view uri,
                                                            const SchemaFetch& fetch, bool checked);

}  // namespace baton
