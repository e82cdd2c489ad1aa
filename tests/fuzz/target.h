// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a fuzz target is: one function over bytes, which must return whatever the bytes are.
// libFuzzer calls it (libfuzzer.cpp, scripts/fuzz), and so does replay.cpp with the inputs that
// were kept.

#include <cstdlib>
#include <string_view>
#include <utility>

namespace baton::fuzz {

void fuzz_loader(std::string_view bytes);
void fuzz_pattern(std::string_view bytes);
void fuzz_schema(std::string_view bytes);
void fuzz_yaml(std::string_view bytes);

/// What always holds. Not `assert`, which release builds leave out.
inline void demand(bool claim) {
  if (!claim)
    std::abort();
}

/// Two parts with a line `---` between them; the second is empty when there is no such line.
inline std::pair<std::string_view, std::string_view> halves(std::string_view text) {
  constexpr std::string_view kLine = "\n---\n";
  const std::size_t at = text.find(kLine);
  if (at == std::string_view::npos)
    return {text, {}};
  return {text.substr(0, at), text.substr(at + kLine.size())};
}

}  // namespace baton::fuzz
