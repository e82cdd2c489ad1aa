#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::ml_workflow {

std::vector<FileKind> files(const Json& options);
/// `workflow_states/NAME/state.json`
std::string state_path(const std::string& workflow, const Json& options);

/// The workflow that a path names, if it ends as the pattern does: in
/// `workflow_states/<workflow>/state.json`.
std::optional<std::string> workflow_of_path(const std::string& path, const Json& options);

}  // namespace baton::ml_workflow
