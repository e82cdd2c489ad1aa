#include "dialects/fsm_loop/comparison.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {
namespace {

struct OperatorRow {
  std::string_view word;
  Operator op;
};
constexpr std::array kOperators = {
    OperatorRow{"eq", Operator::eq}, OperatorRow{"ne", Operator::ne},
    OperatorRow{"lt", Operator::lt}, OperatorRow{"le", Operator::le},
    OperatorRow{"gt", Operator::gt}, OperatorRow{"ge", Operator::ge},
};
static_assert(in_enum_order(kOperators, &OperatorRow::op, Operator::ge));

/// Without the `_` between digits, and without a plus, which from_chars does not read.
std::string plain(std::string_view text) {
  std::string digits;
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (text[i] != '_' || !between)
      digits += text[i];
  }
  return digits;
}

/// Words and hexadecimals are left to nobody: only digits, a point, signs and an exponent.
bool spelled_as_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

/// Too near to 0 for a double, as against too large for one.
bool vanishes(std::string_view digits) {
  const std::size_t exponent = digits.find_first_of("eE");
  if (exponent != std::string_view::npos)
    return digits.substr(exponent + 1).starts_with('-');
  return digits.substr(0, digits.find('.')).find_first_not_of("-0") == std::string_view::npos;
}

tl::unexpected<Error> no_number(std::string_view text) {
  constexpr std::size_t kShown = 100;
  return fail(Errc::parse,
              text.empty() ? std::string("there is no number: the text is empty")
                           : "not a finite decimal number: \"" + printable(text, kShown) + "\"");
}

}  // namespace

Result<double> decimal(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const std::string_view written = trimmed(text, kBlanks);
  if (written.empty())
    return no_number({});
  const std::string digits = plain(written);
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [behind, error] = std::from_chars(digits.data(), end, number);
  if (!spelled_as_decimal(digits) || behind != end || error == std::errc::invalid_argument)
    return no_number(written);
  if (error == std::errc::result_out_of_range) {
    if (!vanishes(digits))
      return no_number(written);
    number = 0;
  }
  return number;
}

std::optional<Operator> parse_operator(std::string_view word) {
  const OperatorRow* const row = row_of(kOperators, word);
  return row == nullptr ? std::nullopt : std::optional(row->op);
}

bool holds(Operator op, double left, double right) {
  switch (op) {
    case Operator::eq:
      return left == right;
    case Operator::ne:
      return left != right;
    case Operator::lt:
      return left < right;
    case Operator::le:
      return left <= right;
    case Operator::gt:
      return left > right;
    case Operator::ge:
      return left >= right;
  }
  return false;
}

Json number_value(double number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (number == std::floor(number) && std::fabs(number) < kExact)
    return static_cast<std::int64_t>(number);
  return number;
}

}  // namespace baton::fsm_loop
