#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

/// The bytes as a gzip file, the same each time (no name, no time). Errc::too_large beyond 1 GiB.
Result<std::string> gzip(std::string_view bytes);

/// What a gzip file holds. Errc::parse: it is none, is cut off, goes on behind its end, or its
/// checksum is wrong; too_large: more than `max_bytes` would come out.
Result<std::string> gunzip(std::string_view bytes, std::size_t max_bytes);

}  // namespace baton
