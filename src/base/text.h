#pragma once

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

/// Without blanks at either end.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// A to Z become a to z, everything else stays.
std::string lower(std::string_view text);

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// At least one character, and nothing but digits.
bool all_digits(std::string_view text);

/// Every `from` that stands in `text` becomes `to`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view left, std::string_view right);

/// The candidate nearest to `word`, if its distance is at most max(2, length/3), or among these one
/// that begins with it; for "did you mean".
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// Control characters and invalid UTF-8 as `\xNN`, so that no file can steer a terminal or forge a
/// log line; cut to `limit_bytes` at a character boundary, with `...` where something was cut.
std::string printable(std::string_view text, std::size_t limit_bytes = 1024);

/// A word of a shell's line that stands for exactly this text.
std::string shell_quoted(std::string_view text);

/// A name that may become part of a path, an argument or a flow name:
/// `^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`.
bool safe_name(std::string_view name);

/// The same, and it may begin with `.`, `_` or `-` as well; not `.` or `..`. For names of folders
/// that others choose.
bool plain_name(std::string_view name);

/// The byte offset of the first byte that is not UTF-8 (overlong forms, surrogates and NUL count as
/// wrong too); nothing when all is well.
std::optional<std::size_t> bad_utf8(std::string_view text);

/// The text with U+FFFD in the place of each byte that `bad_utf8` finds: what a program wrote, as
/// it can stand in JSON.
std::string mended_utf8(std::string_view text);

}  // namespace baton
