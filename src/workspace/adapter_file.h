#pragma once

// Reads an adapter that people have written themselves, and checks it against its schema.

#include <string>

#include "adapters/adapter.h"
#include "base/result.h"

namespace baton {

/// Errors name the file, with line and column. Errc::not_found, denied, parse, schema, too_large.
Result<Adapter> read_adapter(const std::string& path);

/// The adapter of a command with `result:` (schemas/config.schema.json).
Adapter adapter_of_result(const Value& result);

}  // namespace baton
