// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small functions on text: split, join, numbers, suggestions ("did you mean"), printable and safe
// forms.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// Splits at every `separator`; an empty text gives one empty part.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

/// The text without blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// Changes A to Z to lower case, or a to z to upper case; leaves everything else.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_ascii(char c) {
  return (static_cast<unsigned char>(c) & 0x80U) == 0;
}

/// Whether the text has at least one character and only digits.
bool all_digits(std::string_view text);

/// Replaces every `from` by `to`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view left, std::string_view right);

/// The candidate nearest to `word` for "did you mean": at a distance of at most max(2, length/3),
/// preferably one that begins with `word`.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// Writes control characters and invalid UTF-8 as `\xNN`, so that no file can steer a terminal or
/// forge a log line. Cuts to `limit_bytes` at a character boundary and adds `...`.
std::string printable(std::string_view text, std::size_t limit_bytes = 1024);

/// Quotes the text as one word for a shell.
std::string shell_quoted(std::string_view text);
/// The same, but a text that a shell takes as one word already stays as it is.
std::string shell_word(std::string_view text);

/// A name that may become part of a path, an argument or a flow name:
/// `^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`.
bool safe_name(std::string_view name);

/// A name as people give it to a file: UTF-8 of at most 255 bytes without control characters, line
/// breaks and `/`, that begins with neither `-` nor `.`.
bool file_name(std::string_view name);

/// Like `safe_name`, but it may begin with `.`, `_` or `-`; not `.` or `..`. For folder names that
/// other programs choose.
bool plain_name(std::string_view name);

/// The offset of the first byte that is not UTF-8 (overlong forms, surrogates and NUL count as
/// wrong); nothing when all is well.
std::optional<std::size_t> bad_utf8(std::string_view text);

/// Replaces each byte that `bad_utf8` finds by U+FFFD, so that the output of a program fits into
/// JSON.
std::string mended_utf8(std::string_view text);

}  // namespace baton
