// SPDX-License-Identifier: Apache-2.0
#pragma once

// Digests tell versions of one file apart and recognise baton's own writes. They do not protect
// against deliberate collisions: a person who can make one can write the file anyway.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// A 128-bit digest (XXH3) of the bytes of a file.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Digest&) const = default;
};

Digest digest_of(std::string_view bytes);

/// SHA-256, as 64 hexadecimal digits: for names that other programs compute, too.
std::string sha256_hex(std::string_view bytes);

/// 32 hexadecimal digits.
std::string hex(const Digest& digest);
std::optional<Digest> parse_digest(std::string_view hex_digits);

}  // namespace baton
