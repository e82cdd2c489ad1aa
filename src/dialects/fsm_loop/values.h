// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace baton::fsm_loop {

// Finds placeholders in texts. `interpolate` below fills them in.

/// One `${namespace.path}` of a text. `$${` is a literal, not a placeholder.
struct Placeholder {
  std::size_t begin = 0;  ///< `begin` is the dollar, `end` is one after the brace; in bytes
  std::size_t end = 0;
  std::string space;      ///< `captured`
  std::string path;       ///< `errors.output`
  bool optional = false;  ///< `?`: a missing value is empty
  bool shell = false;     ///< `:shell`: the value is quoted
  bool has_default = false;
  std::string default_text;  ///< `:default=TEXT`
  std::string fault;         ///< why it never has a value; empty: it is well-formed
  std::string meant;         ///< the placeholder that was probably meant; empty: unknown
  bool operator==(const Placeholder&) const = default;

  /// Whether the value may be missing.
  bool may_miss() const { return optional || has_default; }
};

std::vector<Placeholder> placeholders(std::string_view text);

/// Whether the text has a placeholder. A target that has one is computed at run time.
bool computed(std::string_view text);

/// Says which positions of a shell command are inside quotes, or in a here-document that the shell
/// does not expand (`<<'END'`). Reads the text once.
class ShellQuotes {
 public:
  explicit ShellQuotes(std::string_view text) : text_(text) {}
  /// Call it with positions in ascending order.
  bool quoted_at(std::size_t place);

 private:
  void step();
  void begin_document();
  void end_line();

  std::string_view text_;
  std::size_t next_ = 0;
  char quote_ = 0;                ///< the open one; 0: none
  std::string_view delimiter_;    ///< of the here-document that begins with the next line
  bool expands_ = true;           ///< the shell expands that document
  std::size_t document_end_ = 0;  ///< of the present here-document; 0: none
};

// Fills in the placeholders of a text, and reads numbers as the original does.

/// The sources of placeholders. Everything they point to must outlive the call. nullptr: there is
/// none (yet).
struct Values {
  const Value* context = nullptr;   ///< the definition's, merged with the values of the start
  const Value* captured = nullptr;  ///< by name; see `capture_of`
  const Value* prev = nullptr;      ///< of the last action: output, exit_code, state
  /// Verdict and details of the last evaluation (`last_result`).
  const Value* last = nullptr;
  /// Verdict and details of this state, while baton looks for its next state. nullptr: use `last`.
  const Value* result = nullptr;
  const Value* param = nullptr;  ///< `LoopState::param`; may hold placeholders itself
  std::string_view state;
  std::int64_t iteration = 0;
  std::string_view loop;
  std::string_view started_at;
  std::string_view continuation;  ///< from the agent that handed over; empty: none
  std::int64_t elapsed_ms = 0;
  std::span<const std::string> messages = {};
  const std::map<std::string, std::string>* env = nullptr;
};

/// Fills in the placeholders. `$${` becomes `${`. Placeholders inside a value stay as they are.
/// Errc::not_found: a value without `?` or `:default=` is missing. Errc::usage: a placeholder never
/// has a value. Both errors name the placeholder and the reason.
Result<std::string> interpolate(std::string_view text, const Values& values);

/// A value as text. null is empty, and texts stay as they are. Integers have no point. Other
/// numbers have the shortest form that reads back the same. Maps and lists are compact JSON.
std::string rendered(const Value& value);

/// `850ms`, `42s`, `3m`, `3m 12s`.
std::string elapsed_text(std::int64_t elapsed_ms);

/// Fills in every text within a value, at any depth. Fails like `interpolate`.
Result<Json> interpolate_all(const Value& value, const Values& values);

/// A finite decimal number: sign, fraction, exponent, blanks around it, `_` between digits.
/// Errc::parse for all else: `nan`, `inf`, hexadecimal numbers, thousands separators. The error
/// quotes the first 100 characters.
Result<double> decimal(std::string_view text);

/// A number that consists of digits. Empty for other texts, and for numbers that are too large.
std::optional<std::size_t> whole_number(std::string_view text);

enum class Operator { eq, ne, lt, le, gt, ge };
std::optional<Operator> parse_operator(std::string_view word);
bool holds(Operator op, double left, double right);

/// A number for details: an integer if it has no fraction.
Json number_value(double number);

}  // namespace baton::fsm_loop
