// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads an adapter that people have written themselves, and checks it against its schema.

#include <string>

#include "adapters/adapter.h"
#include "base/result.h"

namespace baton {

/// The absolute path of an adapter that the configuration names. The file lies below the folder of
/// the configuration, behind no link. Errc::denied, not_found, io.
Result<std::string> adapter_path(const std::string& named, const std::string& configuration_folder);

/// `named` as for `adapter_path`, and no foreign user can change the file. Errors name the file,
/// with line and column. Errc::not_found, denied, parse, schema, too_large, io.
Result<Adapter> read_adapter(const std::string& named, const std::string& configuration_folder);

/// The adapter of a command with `result:` (schemas/config.schema.json).
Adapter adapter_of_result(const Value& result);

}  // namespace baton
