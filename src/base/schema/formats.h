// SPDX-License-Identifier: Apache-2.0
#pragma once

// The formats of JSON Schema.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/schema/schema_tree.h"

namespace baton {

/// Whether `text` has the format `name` of JSON Schema, as a draft means it. Nothing for unknown
/// formats.
std::optional<bool> format_holds(std::string_view name, std::string_view text, SchemaDraft draft);

/// The formats that JSON Schema defines.
bool format_known(std::string_view name);
std::vector<std::string> format_names();

}  // namespace baton
