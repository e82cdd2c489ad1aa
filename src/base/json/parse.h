#pragma once

// Parses one JSON value out of a text: between document.cpp, json values of our own and JSON Lines.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/json/position_finder.h"

namespace baton {

/// Why a text is no JSON, and where. `incomplete`: it might become JSON by going on. `definite`: as
/// of LoadFailure.
struct ParseFault {
  Errc code = Errc::parse;
  std::string message;
  std::string pointer;  ///< of the member that is to blame, where one is
  std::string found;    ///< what stands there; "" where `expected` is not known either
  std::string expected;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool incomplete = false;
  bool too_much_memory = false;
  bool definite = false;
};

struct ParsedValue {
  Json value;
  std::size_t bytes = 0;                       ///< of memory that it takes
  std::size_t end = 0;                         ///< just behind the value
  std::vector<scan::Extent> doubtful_numbers;  ///< the first ones
};

/// Parses the value that begins at `from`; what follows it is not looked at. `text` has passed
/// `bad_utf8`. All limits but the size of the text are enforced; its memory is not counted.
tl::expected<ParsedValue, ParseFault> parse_value(std::string_view text, std::size_t from,
                                                  const LoadLimits& limits);

/// The same for a text that is one value and nothing else, a byte order mark aside. Checks UTF-8,
/// and counts the memory of the text.
tl::expected<ParsedValue, ParseFault> parse_whole(std::string_view text, const LoadLimits& limits);

/// Of a number that does not fit into a double: it is too small for one, not too large.
bool too_small(std::string_view number);

std::string too_deep(const LoadLimits& limits);
/// `escape`: as it stands in the text.
std::string half_surrogate(std::string_view escape);

/// What is wrong with bytes that are not UTF-8.
ParseFault utf8_fault(std::string_view text, std::size_t bad_at);

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace baton
