#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"
#include "dialects/agent_run/check.h"

namespace baton::agent_run {

/// The kinds of files below `path` of the options (`.agents/runs`). Workflows, gate states and
/// lists of items lie wherever a run says; their patterns are the places of a copy within the run.
std::vector<FileKind> files(const Json& options);

/// `path` of the options, without a `/` at its end.
std::string runs_folder(const Json& options);

/// What the file's name says of its run and step.
Place place_of(const Json& options, std::string_view kind, std::string_view path);

}  // namespace baton::agent_run
