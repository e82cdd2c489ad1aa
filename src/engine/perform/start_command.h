// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds what one start needs: command line, environment, prompt and working directory. It fills
// the `${placeholders}` of the configuration with values of the flow.
// Values come from files that agents write, so they are not trusted: a value that could become an
// option or change the folder makes the start fail. Whether the program exists is checked by the
// workspace.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/setup.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/ports.h"

namespace baton {

/// The names that every command may use in `${...}`. A dialect's brief may add more.
const std::vector<std::string>& placeholder_names();

/// A built-in template of a dialect: the text of schemas/DIALECT/prompts/NAME.md. `ROLE` is the
/// whole prompt of a role; `ROLE.PURPOSE` takes the place of `${job}` in it. Empty: there is none.
std::string_view prompt_template(std::string_view dialect, std::string_view name);
std::vector<std::string> prompt_template_names(std::string_view dialect);
/// The names that may stand in `${...}` in all templates of a dialect, with empty values: the
/// general ones, `why`, `job`, and those that its built-in templates use.
std::map<std::string, std::string> prompt_placeholders(std::string_view dialect);

/// Puts together one start. `previous`: the run that it repeats, or nullptr. The prompt then says
/// what happened before, and the session goes on where the adapter can. Errc::denied: a value from
/// a file contains a NUL, would become an option, or would lead out of the configured working
/// directory (`..`). A value becomes an option if it is the beginning of an argument and begins
/// with `-`.
Result<Launch> make_launch(const Start& start, const AgentSpec& spec, const Brief& brief,
                           const Environment& environment, const Run* previous = nullptr);

/// Where the runs of a flow change files besides their working directory `cwd`: for each of the
/// flow's files (`files`, below `root`) the folder that has the name of the flow, else the file
/// itself. Absolute paths, without those inside `cwd`.
std::vector<std::string> flow_paths(const FlowId& flow, const std::vector<std::string>& files,
                                    const std::string& root, const std::string& cwd);

}  // namespace baton
