// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <array>

#include <nettle/sha2.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace baton {
namespace {

void append_hex(std::string& out, std::uint64_t bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4)
    out += kDigits[(bits >> static_cast<unsigned>(shift)) & 0xFU];
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t bits = 0;
  for (const char c : digits) {
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && (c < 'a' || c > 'f'))
      return std::nullopt;
    bits = (bits << 4U) | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  return bits;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  sha256_ctx state{};
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state, digest.size(), digest.data());
  std::string out;
  for (std::size_t i = 0; i < digest.size(); i += 8) {
    std::uint64_t bits = 0;
    for (std::size_t j = i; j < i + 8; ++j)
      bits = (bits << 8U) | digest.at(j);
    append_hex(out, bits);
  }
  return out;
}

Digest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return Digest{.high = hash.high64, .low = hash.low64};
}

std::string hex(const Digest& digest) {
  std::string out;
  out.reserve(32);
  append_hex(out, digest.high);
  append_hex(out, digest.low);
  return out;
}

std::optional<Digest> parse_digest(std::string_view hex_digits) {
  if (hex_digits.size() != 32)
    return std::nullopt;
  const auto high = parse_hex(hex_digits.substr(0, 16));
  const auto low = parse_hex(hex_digits.substr(16));
  if (!high || !low)
    return std::nullopt;
  return Digest{.high = *high, .low = *low};
}

}  // namespace baton
