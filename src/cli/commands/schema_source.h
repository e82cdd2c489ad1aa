// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where `baton validate` finds the schemas that it is told of, and those they refer to.

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

/// A schema by itself, as `--schema` names it.
struct SchemaSource {
  std::string name;    ///< for `fetch`
  std::string folder;  ///< which its references may not leave
  SchemaFetch fetch;
};

/// A file comes first, then the name of a built-in schema. `configured`: the folder of the
/// configuration. Errc::usage: there is neither; io, denied: the file cannot be looked at.
Result<SchemaSource> schema_source(const std::string& asked, const std::string& configured);

}  // namespace baton
