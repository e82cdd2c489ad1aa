#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/schema/schema.h"

namespace baton {

/// The folder for schemas whose URI begins with a prefix:
/// `https://example.org/schemas/=vendor/schemas`.
struct SchemaMap {
  std::string prefix;
  std::string folder;
  bool operator==(const SchemaMap&) const = default;
};

/// Parses `URI-PREFIX=DIR`. Errc::usage: malformed, or there is no such folder.
Result<SchemaMap> parse_schema_map(const std::string& text);

/// Finds a schema below the folder with the longest matching prefix, else with `other`. Never uses
/// the network.
SchemaFetch mapped_schemas(std::vector<SchemaMap> maps, SchemaFetch other);

}  // namespace baton
