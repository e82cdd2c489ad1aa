#pragma once

// Builds small texts without allocating memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::shim {

/// A text of limited length. What does not fit is dropped.
class Text {
 public:
  Text& operator<<(std::string_view part);
  Text& operator<<(std::int64_t number);
  Text& operator<<(std::uint64_t number);
  Text& operator<<(int number) { return *this << static_cast<std::int64_t>(number); }
  /// Adds the text as a JSON string, cut after 512 bytes.
  Text& quoted(std::string_view part);

  std::string_view view() const { return {bytes_.data(), size_}; }
  const char* c_str() const { return bytes_.data(); }

 private:
  void put(char byte);

  std::array<char, 8192> bytes_{};  // the last byte stays NUL
  std::size_t size_ = 0;
};

/// Parses decimal digits; false for anything else and for numbers that do not fit.
bool parse_number(std::string_view text, std::uint64_t& number);

}  // namespace baton::shim
