#pragma once

// What the scalars and tags of YAML mean by the core schema of YAML 1.2. Between yaml.cpp and its
// tests.

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace baton::yaml {

/// The value of a scalar. `tag` is `?` or empty for a plain one, `!` for one that is quoted, else
/// the URI that was written. The error is a clause for people: a tag that is not of the core schema
/// or does not fit the text, and numbers that JSON has no place for.
tl::expected<Json, std::string> scalar(std::string_view text, std::string_view tag);

/// What is wrong with the tag of an array (`kind` is `seq`) or an object (`map`).
std::optional<std::string> collection_fault(std::string_view tag, std::string_view kind);

}  // namespace baton::yaml
