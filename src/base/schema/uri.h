// SPDX-License-Identifier: Apache-2.0
#pragma once

// URI references (RFC 3986), for `$ref`, `$id` and paths in reports.

#include <string>
#include <string_view>

namespace baton {

/// Resolves a reference against a base (RFC 3986, 5.2). Also works for paths without a scheme; a
/// path without `/` in front may lead upwards, as with files: `a.json` and `../b.json` give
/// `../b.json`.
std::string resolve_uri(std::string_view base, std::string_view reference);

struct SplitUri {
  std::string document;
  std::string fragment;  ///< percent-decoded, without `#`
};
SplitUri split_fragment(std::string_view uri);

/// Decodes `%20` and the like; leaves everything that is not such an escape.
std::string percent_decoded(std::string_view text);
/// Encodes every character of a path that has a special meaning, or is not allowed, in a URI.
std::string percent_encoded(std::string_view path);

}  // namespace baton
