#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

/// A regular expression as JSON Schema means it (ECMA-262, code points), run by PCRE2 with limits,
/// so that neither a pattern nor a text can stall or crash. Immutable and cheap to copy.
class Pattern {
 public:
  enum class Match { yes, no, too_expensive };

  /// What ECMA-262 calls flags.
  struct Flags {
    bool any_case = false;    ///< `i`
    bool many_lines = false;  ///< `m`: `^` and `$` are at lines, too
    bool dot_all = false;     ///< `s`: a dot is any character
    /// As Python has it, and not ECMA-262: lines end with a line feed alone, `$` is before one at
    /// the very end too, and `^` with `m` behind it.
    bool python_lines = false;
  };

  /// Errc::schema for what ECMA-262 does not know or PCRE2 cannot do.
  static Result<Pattern> compile(std::string_view ecma) { return compile(ecma, Flags{}); }
  static Result<Pattern> compile(std::string_view ecma, const Flags& flags);

  struct Search {
    Match match = Match::no;
    std::size_t steps = 0;  ///< items tried and, for less, text read
  };
  /// Looks for the pattern anywhere in valid UTF-8.
  Search search(std::string_view text) const;
  /// The memory it takes.
  std::size_t bytes() const;
  const std::string& source() const { return source_; }

 private:
  struct Code;
  Pattern() = default;
  std::string source_;
  std::shared_ptr<const Code> code_;
};

/// Writes an ECMA-262 pattern in the syntax of PCRE2. Errc::schema for syntax that only PCRE2 has.
Result<std::string> pcre_from_ecma(std::string_view ecma);

}  // namespace baton
