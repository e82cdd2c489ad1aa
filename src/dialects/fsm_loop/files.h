#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::fsm_loop {

/// The kinds of files below `path` of the options (`.loops`).
std::vector<FileKind> files(const Json& options);

/// What the file's name says of its loop; empty where it does not fit the kind's pattern.
std::string stem_of(const Json& options, std::string_view kind, std::string_view path);

}  // namespace baton::fsm_loop
