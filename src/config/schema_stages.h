// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stages that the schema of a rule allows. A rule without `stages:` takes them from the `enum`
// of its schema at the place of the stage. The configuration only names the schema, so this is done
// when the schemas can be read.

#include "base/json/json.h"
#include "base/schema/schema.h"

namespace baton {

/// The options of the dialect `rules` (Config::dialects), in which each rule without `stages` gets
/// those of its schema. A schema that cannot be read, or that lists no words there, adds none.
Json with_schema_stages(const Json& options, const SchemaFetch& fetch);

}  // namespace baton
