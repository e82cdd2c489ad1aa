// SPDX-License-Identifier: Apache-2.0
#include "shim/text.h"

namespace baton::shim {

void Text::put(char byte) {
  if (size_ + 1 < bytes_.size())
    bytes_[size_++] = byte;
}

Text& Text::operator<<(std::string_view part) {
  for (const char byte : part)
    put(byte);
  return *this;
}

Text& Text::quoted(std::string_view part) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::size_t kLimit = 512;
  put('"');
  for (std::size_t i = 0; i < part.size() && i < kLimit; ++i) {
    const auto byte = static_cast<unsigned char>(part[i]);
    if (byte == '"' || byte == '\\') {
      put('\\');
      put(part[i]);
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Escape bytes above ASCII one by one, because they may not be valid UTF-8.
      *this << "\\u00";
      put(kHex[byte >> 4U]);
      put(kHex[byte & 0xfU]);
    } else {
      put(part[i]);
    }
  }
  put('"');
  return *this;
}

std::string_view line_value(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ' ') == word)
      return line;
  }
  return {};
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end)
    return false;
  number = value;
  return true;
}

}  // namespace baton::shim
