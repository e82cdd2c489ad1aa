#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "config/config.h"
#include "core/dialect.h"

namespace baton {

/// The options of `rules` with the templates in the place of the paths `prompt` names, which are
/// relative to `folder`. Where one cannot be read, or holds a placeholder nothing will ever be put
/// in for, `prompt_fault` stands in its place: it says why, and names the rule and the reaction.
Json with_prompts(const Json& options, const std::string& folder);

/// What is wrong with prompts of reactions, by the name of the rule and the number of the reaction:
/// `t/1`.
using PromptFaults = std::map<std::string, std::string>;

/// Each `prompt_fault` in the options of `dialects`.
PromptFaults prompt_faults(const std::vector<std::pair<const Dialect*, Json>>& dialects);

/// The options of `rules` with these faults and no others.
Json with_prompt_faults(const Json& options, const PromptFaults& faults);

/// The names all `values:` of a configuration add to the placeholders.
std::vector<std::string> value_names(const Config& config);

}  // namespace baton
