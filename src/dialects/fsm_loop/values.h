#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace baton::fsm_loop {

/// What placeholders are filled in from. Everything pointed to outlives the call. nullptr: there is
/// none (yet).
struct Values {
  const Value* context = nullptr;   ///< the definition's, with what was set at the start
  const Value* captured = nullptr;  ///< name → capture (`capture_of`)
  const Value* prev = nullptr;      ///< output, exit_code, state of the action before
  /// verdict and details of the evaluation before (`last_result`). Outside routing `result` is this
  /// too.
  const Value* last = nullptr;
  const Value* result = nullptr;  ///< the same of this state, while its way on is looked for
  const Value* param = nullptr;   ///< `LoopState::param`; placeholders in it are filled in
  std::string_view state;
  std::int64_t iteration = 0;
  std::string_view loop;
  std::string_view started_at;
  std::string_view continuation;  ///< what an agent left that handed over; empty: none did
  std::int64_t elapsed_ms = 0;
  std::span<const std::string> messages = {};
  const std::map<std::string, std::string>* env = nullptr;
};

/// Fills the placeholders in; `$${` becomes `${`. What was filled in is not looked into again.
/// Errc::not_found for a value that is missing and has no `?` or `:default=`, Errc::usage for a
/// placeholder that can never be filled in; both name it and say why.
Result<std::string> interpolate(std::string_view text, const Values& values);

/// A value as text: null is empty, texts are as they are, true and false, integers without a point,
/// other numbers in the shortest form that reads back the same, maps and lists as compact JSON.
std::string rendered(const Value& value);

/// `850ms`, `42s`, `3m`, `3m 12s`.
std::string elapsed_text(std::int64_t elapsed_ms);

/// Every text of a value, at any depth, filled in; everything else stays. As `interpolate` fails.
Result<Json> interpolate_all(const Value& value, const Values& values);

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
