// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds small texts without allocating memory.

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::shim {

/// A text of limited length. What does not fit is dropped.
class Text {
 public:
  Text& operator<<(std::string_view part);
  template <std::integral Number>
  Text& operator<<(Number number) {
    std::array<char, 20> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  /// Adds the text as a JSON string, cut after 512 bytes.
  Text& quoted(std::string_view part);

  std::string_view view() const { return {bytes_.data(), size_}; }
  const char* c_str() const { return bytes_.data(); }

 private:
  void put(char byte);

  std::array<char, 8192> bytes_{};  // the last byte stays NUL
  std::size_t size_ = 0;
};

/// Removes what is before the separator, and the separator. Returns what was before it.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view piece(text.data(), length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return piece;
}

/// The value in a line `word value`; empty when there is none.
std::string_view line_value(std::string_view text, std::string_view word);

/// Parses decimal digits; false for anything else and for numbers that do not fit.
bool parse_number(std::string_view text, std::uint64_t& number);

}  // namespace baton::shim
