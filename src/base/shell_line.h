// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a command line as far as a person has typed it, for the completions of bash.
//
// Problem: bash gives the line as it is typed, with quotes and backslashes. Asking a shell to
// remove them (`eval`) would run what a name contains. Way: quotes are removed here, and nothing is
// expanded. What is offered is quoted for the place. Limits: one simple command. `$'...'`,
// here-documents and redirections count as plain characters.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// A line without its quotes.
struct ShellLine {
  /// The last word is the one that is being typed. It may be empty.
  std::vector<std::string> words = {""};
  /// How many bytes of the last word stay as they are. bash replaces only what follows the last
  /// open quote or the last character at which it breaks words, such as the `=` in `--role=dev`.
  std::size_t kept = 0;
  char quote = '\0';  ///< the quote that is open at the end; NUL: none
};

/// `breaks` is the value of $COMP_WORDBREAKS.
ShellLine read_shell_line(std::string_view line, std::string_view breaks);

/// The text as it has to be typed behind this open quote, or without one. Nothing if that quote
/// cannot hold the text.
std::optional<std::string> quoted_behind(char quote, std::string_view text);

}  // namespace baton
