// SPDX-License-Identifier: Apache-2.0
#pragma once

// Regular expressions and formats of JSON Schema. Neither a pattern nor a text can stall or crash
// baton: PCRE2 runs with a limit on steps.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton {

/// A regular expression of JSON Schema (ECMA-262, code points). Immutable and cheap to copy.
class Pattern {
 public:
  enum class Match { yes, no, too_expensive };

  /// What ends a line. `python`: only a line feed does, and `$` matches before the last one.
  enum class Lines { ecma, python };

  /// Errc::schema for syntax that ECMA-262 does not have or PCRE2 cannot do.
  static Result<Pattern> compile(std::string_view ecma, Lines lines = Lines::ecma);

  struct Search {
    Match match = Match::no;
    std::size_t steps = 0;  ///< items tried and, at a lower rate, text read
  };
  /// Looks for the pattern anywhere in valid UTF-8.
  Search search(std::string_view text) const;
  /// The memory of the compiled pattern.
  std::size_t bytes() const;
  const std::string& source() const { return source_; }

 private:
  struct Code;
  Pattern() = default;
  std::string source_;
  std::shared_ptr<const Code> code_;
};

/// Translates an ECMA-262 pattern for PCRE2. Errc::schema for syntax that only PCRE2 has.
Result<std::string> pcre_from_ecma(std::string_view ecma);

}  // namespace baton
