#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// True when `text` is in the format `name` of JSON Schema; nothing for formats that are not
/// checked (internationalised host names and addresses) or not known.
std::optional<bool> format_holds(std::string_view name, std::string_view text);

/// Formats that JSON Schema defines, checked or not.
bool format_known(std::string_view name);
std::vector<std::string> format_names();

}  // namespace baton
