// SPDX-License-Identifier: Apache-2.0
#pragma once

// UTF-8, character by character, with all invalid forms refused.

#include <cstddef>
#include <string>
#include <string_view>

namespace baton {

/// The length of the character at `at`, 1 to 4 bytes; 0 when it is not valid (overlong forms,
/// surrogates and cut sequences are not).
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Decodes a valid character of `utf8_length` bytes.
char32_t utf8_decode(std::string_view character);
void utf8_append(std::string& out, char32_t code_point);

/// The number of characters of valid UTF-8.
std::size_t utf8_count(std::string_view text);

/// Whether the text could become valid UTF-8 with more bytes: it ends in the middle of a character.
bool utf8_cut(std::string_view text, std::size_t bad_at);

/// Whether a character must not reach a terminal or a log: C0, DEL, C1, characters that change the
/// direction of writing or break lines, and those that nobody sees but a model reads (without
/// width, tags). `character` is one valid character.
bool is_control(std::string_view character);

/// The number of bytes at the beginning that are ASCII without NUL. Checks eight at a time, so it
/// may stop early.
std::size_t plain_ascii_prefix(std::string_view text);

}  // namespace baton
