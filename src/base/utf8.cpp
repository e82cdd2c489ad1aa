// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace baton {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// The length that a first byte announces; 0 for a byte that cannot be first.
std::size_t announced(unsigned first) {
  if (first < 0x80)
    return 1;
  if (first < 0xC2)
    return 0;
  if (first < 0xE0)
    return 2;
  if (first < 0xF0)
    return 3;
  return first < 0xF5 ? 4 : 0;
}

/// The second byte excludes overlong forms, surrogates and everything above U+10FFFF.
bool second_fits(unsigned first, unsigned second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0 && second <= 0xBF;
    case 0xED:
      return second >= 0x80 && second <= 0x9F;
    case 0xF0:
      return second >= 0x90 && second <= 0xBF;
    case 0xF4:
      return second >= 0x80 && second <= 0x8F;
    default:
      return second >= 0x80 && second <= 0xBF;
  }
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const std::size_t length = announced(byte_at(text, at));
  if (length < 2)
    return length;
  if (at + length > text.size() || !second_fits(byte_at(text, at), byte_at(text, at + 1)))
    return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte_at(text, at + i) & 0xC0U) != 0x80U)
      return 0;
  return length;
}

char32_t utf8_decode(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1)
    return first;
  char32_t out = first & (0xFFU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i)
    out = (out << 6U) | (byte_at(character, i) & 0x3FU);
  return out;
}

void utf8_append(std::string& out, char32_t code_point) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0U | (code_point >> 6U));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0U | (code_point >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code_point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t utf8_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

bool utf8_cut(std::string_view text, std::size_t bad_at) {
  if (bad_at >= text.size())
    return false;
  const std::size_t left = text.size() - bad_at;
  if (announced(byte_at(text, bad_at)) <= left)
    return false;
  if (left > 1 && !second_fits(byte_at(text, bad_at), byte_at(text, bad_at + 1)))
    return false;
  return left < 3 || (byte_at(text, bad_at + 2) & 0xC0U) == 0x80U;
}

bool is_control(std::string_view character) {
  const char32_t c = utf8_decode(character);
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr std::array kRanges = {
      Range{0x00, 0x1F},        // C0
      Range{0x7F, 0x9F},        // DEL, C1
      Range{0xAD, 0xAD},        // soft hyphen
      Range{0x61C, 0x61C},      // direction of writing
      Range{0x180E, 0x180E},    // without width
      Range{0x200B, 0x200F},    // without width, direction
      Range{0x2028, 0x202E},    // line and paragraph, direction
      Range{0x2060, 0x206F},    // without width, direction
      Range{0xFEFF, 0xFEFF},    // byte order mark
      Range{0xFFF9, 0xFFFB},    // annotations
      Range{0xE0000, 0xE0FFF},  // tags, variants
  };
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [&](const Range& range) { return c >= range.first && c <= range.last; });
}

std::size_t plain_ascii_prefix(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  std::size_t at = 0;
  while (at + 8 <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    // The high bit of each byte is set when it is not ASCII, or (by the borrow) when it is NUL.
    if (((word | (word - kOnes)) & kHigh) != 0)
      break;
    at += 8;
  }
  return at;
}

}  // namespace baton
