// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sizes as configurations and messages write them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// Parses `10MiB`, `512KiB`, `2GB`, `100B`; refuses a number without a unit.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// `64 MiB`, `4.5 MiB`, `700 KiB`; rounded up, so that what is above a limit never reads like it.
std::string size_text(std::uint64_t bytes);

}  // namespace baton
