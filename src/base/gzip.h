// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packs and unpacks gzip files in memory, for backups.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

/// The bytes as a gzip file, always the same for the same bytes (no name, no time). Errc::too_large
/// beyond 1 GiB.
Result<std::string> gzip(std::string_view bytes);

/// The content of a gzip file. Errc::parse: it is no gzip file, is cut off, has data after its end,
/// or has a wrong checksum. Errc::too_large: the content is larger than `max_bytes`.
Result<std::string> gunzip(std::string_view bytes, std::size_t max_bytes);

}  // namespace baton
