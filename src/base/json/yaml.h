#pragma once

// YAML is read through `load_document(text, Format::yaml)` in base/json/document.h. This header is
// only between document.cpp and yaml.cpp, the one user of yaml-cpp.

#include <functional>
#include <string>
#include <string_view>

#include "base/json/document.h"

namespace baton {

/// Called once per value, with its JSON pointer and its place (`key`: the place of the member's
/// name).
using YamlMark = std::function<void(const std::string& pointer, const Span& span, bool key)>;

/// Reads YAML as JSON values: string keys only, YAML 1.2 core scalars, duplicate keys refused,
/// anchors allowed with a limit on what they expand to.
tl::expected<Json, LoadFailure> parse_yaml(std::string_view text, const LoadLimits& limits,
                                           const YamlMark& mark);

}  // namespace baton
