#pragma once

#include <string>
#include <string_view>

namespace baton {

/// Resolves a reference against a base by RFC 3986, 5.2. Paths without a scheme work too; those
/// that do not begin with `/` may lead upwards, as files do: `a.json` and `../b.json` give
/// `../b.json`.
std::string resolve_uri(std::string_view base, std::string_view reference);

struct SplitUri {
  std::string document;
  std::string fragment;  ///< percent-decoded, without `#`
};
SplitUri split_fragment(std::string_view uri);

/// `%20` is a blank; what is no such escape stays as it is.
std::string percent_decoded(std::string_view text);
/// A path with escapes for all that has a meaning of its own in a URI, or no place in one.
std::string percent_encoded(std::string_view path);

}  // namespace baton
