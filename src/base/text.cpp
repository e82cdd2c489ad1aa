// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <numeric>

#include "base/utf8.h"

namespace baton {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data())
      out += separator;
    out += part;
  }
  return out;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return all;
}

std::string upper(std::string_view text) {
  std::string all(text);
  for (char& c : all)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return all;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0U : 1U);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  // The distance costs the product of both lengths, and a word that long is no typing mistake.
  constexpr std::size_t kLongest = 200;
  const std::size_t allowed = std::max<std::size_t>(2, word.size() / 3);
  std::size_t best = allowed + 1;
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (longer > kLongest || longer - shorter > allowed)
      continue;
    const bool begun = !word.empty() && candidate.starts_with(word);
    const std::size_t distance = begun ? 0 : edit_distance(word, candidate);
    // A distance of the whole length means that the words have nothing in common.
    if (distance < best && distance < longer) {
      best = distance;
      found = &candidate;
    }
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string printable(std::string_view text, std::size_t limit_bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    const std::size_t taken = std::max<std::size_t>(length, 1);
    std::string piece(text.substr(at, taken));
    if (length == 0 || is_control(text.substr(at, taken))) {
      piece.clear();
      for (const char c : text.substr(at, taken)) {
        const auto byte = static_cast<unsigned char>(c);
        piece += "\\x";
        piece += kDigits[byte >> 4U];
        piece += kDigits[byte & 0xFU];
      }
    }
    if (out.size() + piece.size() > limit_bytes)
      return out + "...";
    out += piece;
    at += taken;
  }
  return out;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '/' || c == '-';
  });
  return plain ? std::string(text) : shell_quoted(text);
}

namespace {

bool alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

bool safe_name(std::string_view name) {
  return plain_name(name) && alphanumeric(name.front());
}

bool plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

bool file_name(std::string_view name) {
  constexpr std::size_t kLongest = 255;
  if (name.empty() || name.size() > kLongest || name.front() == '-' || name.front() == '.' ||
      bad_utf8(name))
    return false;
  // Behind ASCII the control characters U+0080 to U+009F, and the line breaks U+2028 and U+2029.
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    const std::string_view rest = name.substr(at);
    if (byte < 0x20 || byte == 0x7F || byte == '/' ||
        (byte == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0) ||
        rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9"))
      return false;
  }
  return true;
}

std::optional<std::size_t> bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    at += plain_ascii_prefix(text.substr(at));
    if (at == text.size())
      break;
    const std::size_t length = text[at] == '\0' ? 0 : utf8_length(text, at);
    if (length == 0)
      return at;
    at += length;
  }
  return std::nullopt;
}

std::string mended_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  while (const auto bad = bad_utf8(text)) {
    out += text.substr(0, *bad);
    out += kReplacement;
    text.remove_prefix(*bad + 1);
  }
  return out += text;
}

}  // namespace baton
