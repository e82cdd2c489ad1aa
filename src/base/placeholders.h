#pragma once

// `${name}` in commands, prompts and paths of the configuration.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton {

/// Replaces each `${name}` by its value; `$${` gives a literal `${`. Errc::config for an unknown
/// name and for a `${` without `}`.
Result<std::string> fill(std::string_view text, const std::map<std::string, std::string>& values);

/// The names in `${...}`, in order. A `${` without `}` gives a name that cannot exist.
std::vector<std::string> placeholders_in(std::string_view text);

}  // namespace baton
