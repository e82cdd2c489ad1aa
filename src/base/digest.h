#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// 128 bits that stand for the bytes of a file. It tells versions of one file apart; it is no
/// defence against somebody who constructs collisions (who could as well have left the file alone).
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Digest&) const = default;
};

Digest digest_of(std::string_view bytes);

/// 32 hexadecimal digits.
std::string hex(const Digest& digest);
std::optional<Digest> parse_digest(std::string_view hex_digits);

}  // namespace baton
