#pragma once

// Prompts from files: those of agents, and files `prompts/DIALECT/NAME.md` beside a configuration,
// which override the templates of dialects (engine/perform/start_command.h).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace baton {

/// The text of a prompt, UTF-8 of at most 1 MiB that is not blank. Errc::config, or that of
/// `read_file`.
Result<std::string> read_prompt(const std::string& path);

/// The files that override templates of the role: `coordination/developer` → text. Errc::config
/// names the first one that cannot be used, and says what to do. `folder`: of the configuration.
Result<std::map<std::string, std::string>> prompt_files(const Config& config,
                                                        const std::string& folder,
                                                        std::string_view role);

/// Sentences about files in these folders that override no template and are no agent's `prompt:`.
std::vector<std::string> unknown_prompt_files(const Config& config, const std::string& folder);

}  // namespace baton
