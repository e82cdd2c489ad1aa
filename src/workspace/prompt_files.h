#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace baton {

// Files `prompts/DIALECT/NAME.md` beside a configuration take the place of a dialect's own prompt
// templates (engine/perform/start_command.h). docs/configuration.md, "Prompts of the dialects".

struct PromptFiles {
  std::map<std::string, std::string> texts;   ///< `coordination/developer` → text
  std::map<std::string, std::string> faults;  ///< the same → path, what is wrong, what to do
  std::vector<std::string> unknown;           ///< files that no template has the name of, and why
};

/// Reads and checks those of the configured dialects. `folder`: that of the configuration.
PromptFiles prompt_files(const Config& config, const std::string& folder);

/// The first fault of a template that a role is given; "" when there is none.
std::string fault_for(const PromptFiles& files, std::string_view role);

}  // namespace baton
