#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace baton::fsm_loop {

/// A finite decimal number: sign, fraction, exponent, blanks around it, `_` between digits. Not
/// `nan`, `inf`, hexadecimals and thousands separators. Errc::parse quotes the first 100
/// characters.
Result<double> decimal(std::string_view text);

enum class Operator { eq, ne, lt, le, gt, ge };
std::optional<Operator> parse_operator(std::string_view word);
bool holds(Operator op, double left, double right);

/// A number as it goes into details: an integer where it is one.
Json number_value(double number);

}  // namespace baton::fsm_loop
