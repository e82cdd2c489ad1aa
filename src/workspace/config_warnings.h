// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sentences for people about parts of a configuration that cannot be used, although the rest can.
// `baton run` and `baton reload` show them. Errors that refuse the whole configuration come from
// Context instead.

#include <string>
#include <utility>
#include <vector>

#include "config/setup.h"
#include "core/catalog.h"
#include "workspace/context.h"

namespace baton {

/// The parts that cannot be used: agents, prompts, roles without an agent, files that baton never
/// looks at, the program of `notify:`. `setup` is that of any root of the configuration.
std::vector<std::string> config_warnings(const Context& context, const Setup& setup);

/// The program of `notify:`, which must be configured. Errors as of `find_program`.
Result<std::string> notify_program(const Context& context);

/// A sentence with the first patterns of configured files. It helps when baton does not see a file.
std::string configured_patterns(const Context& context, const Catalog& catalog);

/// A sentence that names the rules without `done:` and `stages:` whose schemas list no stages
/// either. Empty if there is no such rule. `baton run` and `baton doctor` show it as advice: such a
/// rule works, so it is none of the warnings above.
std::string without_stages(const std::vector<std::pair<const Dialect*, Json>>& dialects);

/// Sentences about files that a rule names and never gets, because they belong to a dialect.
std::vector<std::string> never_seen(const Catalog& catalog);

}  // namespace baton
