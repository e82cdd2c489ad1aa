// SPDX-License-Identifier: Apache-2.0
#include "base/size.h"

#include <array>
#include <charconv>

namespace baton {
namespace {

struct SizeUnit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kSizeUnits = {
    SizeUnit{"B", 1},
    SizeUnit{"KiB", 1ULL << 10U},
    SizeUnit{"MiB", 1ULL << 20U},
    SizeUnit{"GiB", 1ULL << 30U},
    SizeUnit{"kB", 1'000},
    SizeUnit{"MB", 1'000'000},
    SizeUnit{"GB", 1'000'000'000},
};
/// Far above any useful size, and safe to add up and to store as a signed number.
constexpr std::uint64_t kMostBytes = 1ULL << 50U;

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || text.empty())
    return std::nullopt;
  const std::string_view unit(behind, static_cast<std::size_t>(end - behind));
  for (const SizeUnit& row : kSizeUnits) {
    if (row.name == unit)
      return number > kMostBytes / row.bytes ? std::nullopt : std::optional(number * row.bytes);
  }
  return std::nullopt;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKib = 1U << 10U;
  constexpr std::uint64_t kMib = 1U << 20U;
  if (bytes < kKib)
    return std::to_string(bytes) + " bytes";
  if (bytes < kMib)
    return std::to_string((bytes + kKib - 1) / kKib) + " KiB";
  const std::uint64_t tenths = (bytes * 10 + kMib - 1) / kMib;
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) +
         " MiB";
}

}  // namespace baton
