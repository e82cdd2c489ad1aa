// SPDX-License-Identifier: Apache-2.0

// libFuzzer calls one function by this name; each program has one of the targets behind it.

#include <cstddef>
#include <cstdint>

#include "fuzz/target.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  baton::fuzz::BATON_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
