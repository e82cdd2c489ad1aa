#pragma once

// What dialects have in common whose files are described by one schema each.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog.h"
#include "core/dialect.h"

namespace baton {

/// A kind with the schema `schemas/DIALECT/NAME.schema.json` whose files belong to the flow
/// `{flow}`.
FileKind file_kind(std::string_view dialect, std::string name, std::string pattern,
                   Format format = Format::json);

/// What the path says as a file of that kind; nothing where it fits none of its patterns.
std::optional<PatternMatch> match_kind(const std::vector<FileKind>& kinds, std::string_view kind,
                                       std::string_view path);

/// The rules of single documents, for a dialect that has no others.
using CheckOne = Findings (*)(const std::string& path, const Accepted& accepted,
                              const Json& options);
std::map<std::string, Findings> check_each(const FlowState& docs, const Json& options, Scope scope,
                                           CheckOne check_one);

/// The files whose newest version was rejected, and the findings: for prompts, so that the next
/// agent corrects them.
std::string rejected_lines(const View& view);

/// The decision of a dialect that only looks so far: nothing is started, and what the document of
/// the kind `state` says of itself in `status` is shown.
Decision only_looked_at(const View& view, std::string_view state);

}  // namespace baton
