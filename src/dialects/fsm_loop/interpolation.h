#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace baton::fsm_loop {

/// One `${namespace.path}` of a text. `$${` is a literal and no placeholder.
struct Placeholder {
  std::size_t begin = 0;  ///< bytes: from the dollar to just behind the brace
  std::size_t end = 0;
  std::string space;      ///< `captured`
  std::string path;       ///< `errors.output`
  bool optional = false;  ///< `?`: a missing value is empty
  bool shell = false;     ///< `:shell`: the value is quoted
  bool has_default = false;
  std::string default_text;  ///< `:default=TEXT`
  std::string fault;         ///< why it can never be filled in; empty: it is well-formed
  std::string meant;         ///< the nearest that could be; empty: nothing is near
  bool operator==(const Placeholder&) const = default;

  /// Something stands in for a value that is missing.
  bool may_miss() const { return optional || has_default; }
};

std::vector<Placeholder> placeholders(std::string_view text);

/// Whether the text holds a `${` that is not escaped: such a target is computed at run time.
bool computed(std::string_view text);

/// Reads a text once as a shell does, to say which places lie within single or double quotes.
class ShellQuotes {
 public:
  explicit ShellQuotes(std::string_view text) : text_(text) {}
  /// Places are asked for in ascending order.
  bool quoted_at(std::size_t place);

 private:
  std::string_view text_;
  std::size_t next_ = 0;
  char quote_ = 0;  ///< the one that is open; 0: none
};

}  // namespace baton::fsm_loop
