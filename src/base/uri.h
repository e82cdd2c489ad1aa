#pragma once

#include <string>
#include <string_view>

namespace baton {

/// Resolves a reference against a base by RFC 3986, 5.2. Paths without a scheme work too.
std::string resolve_uri(std::string_view base, std::string_view reference);

struct SplitUri {
  std::string document;
  std::string fragment;  ///< percent-decoded, without `#`
};
SplitUri split_fragment(std::string_view uri);

}  // namespace baton
