// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads prompts from files: the prompts of agents, and files `prompts/DIALECT/NAME.md` beside the
// configuration. The latter override the templates of dialects (engine/perform/start_command.h).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace baton {

/// The text of a prompt: not blank, UTF-8, at most 1 MiB. Errc::config: the text is none of this;
/// other errors as for `read_file`.
Result<std::string> read_prompt(const std::string& path);

/// The text of a file that overrides a template of the dialect, or would: its placeholders are
/// known. Errors as for `read_prompt`.
Result<std::string> read_template(const std::string& path, std::string_view dialect);

/// The files that override templates of this role: `coordination/developer` → text. `folder` is
/// that of the configuration. Errc::config names the first file that cannot be used and says what
/// to do.
Result<std::map<std::string, std::string>> prompt_files(const Config& config,
                                                        const std::string& folder,
                                                        std::string_view role);

/// Sentences about files in these folders that override no template and are no `prompt:` of an
/// agent.
std::vector<std::string> unknown_prompt_files(const Config& config, const std::string& folder);

}  // namespace baton
