// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads YAML as JSON values, with yaml-cpp. Use it through `load_document(text, Format::yaml)` in
// document.h; this header is only for document.cpp, yaml.cpp and yaml_scalar.cpp.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/document.h"
#include "base/json/json.h"

namespace baton {

/// Called once per value with its JSON pointer and place (`key`: the place of the member's name).
using YamlMark = std::function<void(const std::string& pointer, const Span& span, bool key)>;

/// Accepts string keys only and YAML 1.2 core scalars. Refuses duplicate keys, and anchors that
/// expand to too many values.
tl::expected<Json, LoadFailure> parse_yaml(std::string_view text, const LoadLimits& limits,
                                           const YamlMark& mark);

}  // namespace baton

namespace baton::yaml {

/// The value of a scalar. `tag` is `?` or empty for a plain scalar, `!` for a quoted one, else the
/// URI. The error is a clause for people: a tag that is unknown or does not fit the text, or a
/// number that JSON cannot hold.
tl::expected<Json, std::string> scalar(std::string_view text, std::string_view tag);

/// What is wrong with the tag of an array (`kind` is `seq`) or an object (`map`).
std::optional<std::string> collection_fault(std::string_view tag, std::string_view kind);

/// A fault in the text of YAML, and its place.
struct TextFault {
  std::size_t offset = 0;
  std::string message;
};

/// Where the content of the node at `at` begins: after anchor, tag, blanks and comments.
std::size_t content_begin(std::string_view text, std::size_t at);

/// yaml-cpp ignores every line that begins with `%`. Such a line is a directive only when `---`
/// follows.
std::optional<TextFault> directive_fault(std::string_view text);

/// Finds faults that yaml-cpp accepts: a quotation without end at the end of a file, and `\'` as an
/// escape. `at` is the place of the first quote; nothing is wrong if there is no quote at `at`.
std::optional<TextFault> quotation_fault(std::string_view text, std::size_t at);

}  // namespace baton::yaml
