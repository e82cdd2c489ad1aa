#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "base/json.h"
#include "base/result.h"

namespace baton {

/// The options of `rules` with the templates in the place of the paths `prompt` names, which are
/// relative to `folder`. Errc::config names the rule and the reaction whose template cannot be read
/// or holds a placeholder nothing will ever be put in for.
Result<Json> with_prompts(const Json& options, const std::string& folder);

/// The same with every such path left out, for commands that start nothing.
Json without_prompts(const Json& options);

/// Why a text cannot be a prompt, as half a sentence; empty when it can.
std::string prompt_fault(const std::string& text);

/// The names all `values:` of a configuration add to the placeholders.
std::vector<std::string> value_names(const Config& config);

}  // namespace baton
