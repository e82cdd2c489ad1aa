// SPDX-License-Identifier: Apache-2.0
#pragma once

// `${name}` in commands, prompts and paths of the configuration.
//
// A value may come from a file that anybody writes. A filter marks it as data, so that it cannot
// look like the text around it: `${name|json}` gives one JSON string on one line, `${name|data}`
// gives the value between lines of backticks.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton {

/// The value as one JSON string on one line. Line breaks, quotes, control characters and those that
/// nobody sees are escaped.
std::string json_quoted(std::string_view value);
/// The value between two lines of backticks, which are longer than each run of backticks in it. An
/// empty value stays empty.
std::string fenced(std::string_view value);

/// Replaces each `${name}` by its value; `$${` gives a literal `${`. Errc::config for an unknown
/// name or filter and for a `${` without `}`.
Result<std::string> fill(std::string_view text, const std::map<std::string, std::string>& values);

/// Fills in a template of blocks, which are lines between empty lines. A block is left out when
/// it has placeholders and all of them are empty; so is a heading (a block of one line that begins
/// with `## `) with no block left under it. Line feeds at the end of a value do not count.
Result<std::string> fill_blocks(std::string_view text, std::map<std::string, std::string> values);

/// What is wrong with the filter in `NAME|FILTER`, which is what stands in `${...}`; empty:
/// nothing.
std::string filter_fault(std::string_view inside);

/// The names in `${...}`, in order, without filters. A `${` without `}`, or with a filter that does
/// not exist, gives a name that cannot exist.
std::vector<std::string> placeholders_in(std::string_view text);

}  // namespace baton
