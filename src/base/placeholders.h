#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton {

/// Replaces each `${name}` by its value; `$${` gives a literal `${`. Errc::config for a name that
/// `values` has not, and for a `${` without its `}`.
Result<std::string> fill(std::string_view text, const std::map<std::string, std::string>& values);

/// The names that stand in `${...}`, in order. A `${` without its `}` gives one that nobody can
/// know.
std::vector<std::string> placeholders_in(std::string_view text);

}  // namespace baton
