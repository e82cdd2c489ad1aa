// SPDX-License-Identifier: Apache-2.0
#pragma once

// Host names, with and without letters beyond ASCII.

#include <string_view>

namespace baton {

/// A host name of RFC 1123.
bool is_plain_hostname(std::string_view text);
/// The same, but a label that begins like an encoded one (`xn--`) has to be one by IDNA 2008 (RFC
/// 5891), and no other label has hyphens at its third and fourth place.
bool is_encoded_hostname(std::string_view text);
/// The same, but labels may also be written with letters of any language, and dots as they are
/// there. `composed`: only with letters in their composed form (NFC).
bool is_international_hostname(std::string_view text, bool composed);

}  // namespace baton
