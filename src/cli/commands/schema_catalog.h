// SPDX-License-Identifier: Apache-2.0
#pragma once

// The embedded schemas: their names, and a catalog for editors.

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace baton {

/// The short names of the embedded schemas (`coordination/pm_state`), sorted.
std::vector<std::string> schema_names();

/// The short names of the built-in prompt templates (`coordination/prompts/developer.md`), sorted.
std::vector<std::string> prompt_names();

/// Tells editors which schema belongs to which file, in the form of SchemaStore's catalog. Made
/// from the patterns of all dialects with their usual folders. `base` comes before the file names
/// of the schemas; empty for a catalog in `schemas/` itself. Leaves out JSON Lines, because their
/// schemas describe one line.
Json schema_catalog(std::string_view base);

}  // namespace baton
