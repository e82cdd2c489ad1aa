// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prompts of reactions (`react: prompt:` in a rule). The configuration names files; the engine
// needs their texts. A prompt that cannot be used does not refuse the configuration: only the agent
// of that reaction is not started.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "config/config.h"
#include "core/dialect.h"

namespace baton {

/// Replaces each path in `prompt` by the text of the file; paths are relative to `folder`. If a
/// file cannot be read or has an unknown placeholder, the reaction gets a `prompt_fault` instead.
/// It is a sentence that names the rule, the reaction and the reason.
Json with_prompts(const Json& options, const std::string& folder);

/// Prompt faults by the name of the rule and the number of the reaction, such as `tickets/1`.
using PromptFaults = std::map<std::string, std::string>;

/// All prompt faults in the options of `dialects`.
PromptFaults prompt_faults(const std::vector<std::pair<const Dialect*, Json>>& dialects);

/// Replaces all prompt faults in the options of `rules` by `faults`.
Json with_prompt_faults(const Json& options, const PromptFaults& faults);

/// The placeholders that the `values:` of all rules add.
std::vector<std::string> value_names(const Config& config);

}  // namespace baton
