// SPDX-License-Identifier: Apache-2.0
#pragma once

// The day, which decides what a sample takes: another part of a long test each day.

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace baton::testing {

/// Days since 1970, as the tests in Python count them. BATON_DAY in the environment repeats another
/// one.
inline std::uint64_t day() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (const char* const given = std::getenv("BATON_DAY"))
    return std::strtoull(given, nullptr, 10);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::days>(now).count());
}

}  // namespace baton::testing
