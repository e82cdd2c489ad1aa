#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/schema/schema.h"

namespace baton {

/// Where schemas lie that are named by URI: `https://example.org/schemas/=vendor/schemas`.
struct SchemaMap {
  std::string prefix;
  std::string folder;
  bool operator==(const SchemaMap&) const = default;
};

/// Reads `URI-PREFIX=DIR`. Errc::usage: it is none, or there is no such folder.
Result<SchemaMap> parse_schema_map(const std::string& text);

/// Finds a schema below the folder of the longest prefix that fits, else by `other`. It never asks
/// the network.
SchemaFetch mapped_schemas(std::vector<SchemaMap> maps, SchemaFetch other);

}  // namespace baton
