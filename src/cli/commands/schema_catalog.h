#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace baton {

/// The schemas of this binary by their short names (`coordination/pm_state`), sorted.
std::vector<std::string> schema_names();

/// Tells editors which file is described by which schema, in the form of SchemaStore's catalogue:
/// made from the patterns of all dialects with their usual folders. `base` is put in front of the
/// schemas' file names below `schemas/`; empty for a catalogue that lies there itself. JSON Lines
/// are left out, since their schemas describe a line.
Json schema_catalog(std::string_view base);

}  // namespace baton
