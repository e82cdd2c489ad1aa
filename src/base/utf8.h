#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

/// The bytes of the character at `at`, 1 to 4; 0 when there is no valid one (overlong forms,
/// surrogates and cut sequences are not).
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Decodes a valid character of `utf8_length` bytes.
char32_t utf8_decode(std::string_view character);
void utf8_append(std::string& out, char32_t code_point);

/// The number of characters of valid UTF-8.
std::size_t utf8_count(std::string_view text);

/// True when valid UTF-8 might go on: the last bytes are the beginning of a character.
bool utf8_cut(std::string_view text, std::size_t bad_at);

/// C0, DEL, C1, and the characters that turn the direction of writing or break lines: what must not
/// reach a terminal. `character` is one valid character.
bool is_control(std::string_view character);

/// How many bytes at the beginning are ASCII without NUL; looks at eight a step, so it may stop
/// early.
std::size_t plain_ascii_prefix(std::string_view text);

}  // namespace baton
