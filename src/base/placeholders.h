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

/// Fills in a template of blocks, which are lines between empty lines. A block is left out when
/// it has placeholders and all of them are empty; so is a heading (a block of one line that begins
/// with `## `) with no block left under it. Line feeds at the end of a value do not count.
Result<std::string> fill_blocks(std::string_view text, std::map<std::string, std::string> values);

/// The names in `${...}`, in order. A `${` without `}` gives a name that cannot exist.
std::vector<std::string> placeholders_in(std::string_view text);

}  // namespace baton
