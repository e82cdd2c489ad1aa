#include "shim/text.h"

#include <limits>

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

Text& Text::operator<<(std::uint64_t number) {
  std::array<char, 20> digits{};
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0)
    put(digits[--count]);
  return *this;
}

Text& Text::operator<<(std::int64_t number) {
  if (number >= 0)
    return *this << static_cast<std::uint64_t>(number);
  put('-');
  return *this << (~static_cast<std::uint64_t>(number) + 1);
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
      // Escape bytes above ASCII one by one: nobody has checked that they are UTF-8.
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

bool parse_number(std::string_view text, std::uint64_t& number) {
  if (text.empty())
    return false;
  std::uint64_t value = 0;
  for (const char byte : text) {
    if (byte < '0' || byte > '9')
      return false;
    const auto digit = static_cast<std::uint64_t>(byte - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10)
      return false;
    value = value * 10 + digit;
  }
  number = value;
  return true;
}

}  // namespace baton::shim
