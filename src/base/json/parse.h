// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses one JSON value and explains what is wrong with a text that is not JSON. Used by
// document.cpp, by JSON Lines and for our own values.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/json/parse.h"
#include "base/json/position_finder.h"

namespace baton {

/// Why a text is not JSON, and where. `incomplete`: it may become JSON with more text. `definite`:
/// see LoadFailure.
struct ParseFault {
  Errc code = Errc::parse;
  std::string message;
  std::string pointer;  ///< of the member with the fault, if there is one
  std::string found;    ///< the text at that place; "" when `expected` is unknown too
  std::string expected;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool incomplete = false;
  bool too_much_memory = false;
  bool definite = false;
};

struct ParsedValue {
  Json value;
  std::size_t bytes = 0;                       ///< memory of the value
  std::size_t end = 0;                         ///< just after the value
  std::vector<scan::Extent> doubtful_numbers;  ///< only the first ones
};

/// Parses the value at `from` and ignores what follows. `text` has passed `bad_utf8`. Enforces all
/// limits except the size of the text, whose memory is not counted.
tl::expected<ParsedValue, ParseFault> parse_value(std::string_view text, std::size_t from,
                                                  const LoadLimits& limits);

/// Parses a text that is one value and nothing else, except a byte order mark. Checks UTF-8 and
/// counts the memory of the text.
tl::expected<ParsedValue, ParseFault> parse_whole(std::string_view text, const LoadLimits& limits);

/// Whether a number that does not fit into a double is too small (not too large).
bool too_small(std::string_view number);

std::string too_deep(const LoadLimits& limits);
/// `escape`: as the text has it.
std::string half_surrogate(std::string_view escape);

/// What is wrong with bytes that are not UTF-8.
ParseFault utf8_fault(std::string_view text, std::size_t bad_at);

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// What the parser expected, as far as RapidJSON's error code tells.
enum class SyntaxKind { value, name, colon, object_end, array_end, number, string, after_end };

/// Explains what is wrong at `offset`, and whether the text is only unfinished.
ParseFault syntax_fault(std::string_view text, SyntaxKind kind, std::size_t offset);

}  // namespace baton
