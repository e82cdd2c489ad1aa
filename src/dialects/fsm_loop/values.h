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

// Finds placeholders in texts. values.h fills them in.

/// One `${namespace.path}` of a text. `$${` is a literal, not a placeholder.
struct Placeholder {
  std::size_t begin = 0;  ///< bytes, from the dollar to behind the brace
  std::size_t end = 0;
  std::string space;      ///< `captured`
  std::string path;       ///< `errors.output`
  bool optional = false;  ///< `?`: a missing value is empty
  bool shell = false;     ///< `:shell`: the value is quoted
  bool has_default = false;
  std::string default_text;  ///< `:default=TEXT`
  std::string fault;         ///< why it never has a value; empty: it is well-formed
  std::string meant;         ///< the nearest well-formed one; empty: nothing is near
  bool operator==(const Placeholder&) const = default;

  /// A missing value is allowed.
  bool may_miss() const { return optional || has_default; }
};

std::vector<Placeholder> placeholders(std::string_view text);

/// Whether the text has a placeholder. A target that has one is computed at run time.
bool computed(std::string_view text);

/// Says which positions of a shell command are inside quotes. Reads the text once.
class ShellQuotes {
 public:
  explicit ShellQuotes(std::string_view text) : text_(text) {}
  /// Ask for positions in ascending order.
  bool quoted_at(std::size_t place);

 private:
  std::string_view text_;
  std::size_t next_ = 0;
  char quote_ = 0;  ///< the open one; 0: none
};

// Fills the placeholders of a text in, and reads numbers the way the original does.

/// The sources of placeholders. Everything they point to outlives the call. nullptr: there is none
/// (yet).
struct Values {
  const Value* context = nullptr;   ///< the definition's, merged with the values of the start
  const Value* captured = nullptr;  ///< by name; see `capture_of`
  const Value* prev = nullptr;      ///< of the last action: output, exit_code, state
  /// Verdict and details of the last evaluation (`last_result`).
  const Value* last = nullptr;
  /// the same of this state, while its next state is found; else `last` is used
  const Value* result = nullptr;
  const Value* param = nullptr;  ///< `LoopState::param`; may hold placeholders itself
  std::string_view state;
  std::int64_t iteration = 0;
  std::string_view loop;
  std::string_view started_at;
  std::string_view continuation;  ///< of the agent that handed over; empty: none
  std::int64_t elapsed_ms = 0;
  std::span<const std::string> messages = {};
  const std::map<std::string, std::string>* env = nullptr;
};

/// Fills the placeholders in; `$${` becomes `${`. Placeholders in a value stay as they are.
/// Errc::not_found for a missing value without `?` or `:default=`. Errc::usage for a placeholder
/// that never has a value. Both name the placeholder and the reason.
Result<std::string> interpolate(std::string_view text, const Values& values);

/// A value as text. null is empty, texts are unchanged, integers have no point, other numbers have
/// the shortest form that reads back the same, maps and lists are compact JSON.
std::string rendered(const Value& value);

/// `850ms`, `42s`, `3m`, `3m 12s`.
std::string elapsed_text(std::int64_t elapsed_ms);

/// Fills in every text of a value, at any depth. Fails like `interpolate`.
Result<Json> interpolate_all(const Value& value, const Values& values);

/// A finite decimal number: sign, fraction, exponent, blanks around it, `_` between digits. `nan`,
/// `inf`, hexadecimal numbers and thousands separators are errors. Errc::parse quotes the first 100
/// characters.
Result<double> decimal(std::string_view text);

/// A number of digits only; nothing for one that is too large.
std::optional<std::size_t> whole_number(std::string_view text);

enum class Operator { eq, ne, lt, le, gt, ge };
std::optional<Operator> parse_operator(std::string_view word);
bool holds(Operator op, double left, double right);

/// A number for details: an integer if it is one.
Json number_value(double number);

}  // namespace baton::fsm_loop
