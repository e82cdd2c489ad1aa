#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace baton::fsm_loop
