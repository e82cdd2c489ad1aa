#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace baton::yaml {

/// What is wrong with a text of YAML, and where.
struct TextFault {
  std::size_t offset = 0;
  std::string message;
};

/// Where the content of a node begins that stands at `at`: behind anchor, tag, blanks and comments.
std::size_t content_begin(std::string_view text, std::size_t at);

/// yaml-cpp passes over a line that begins with `%`, whatever it says. It is a directive only when
/// `---` follows.
std::optional<TextFault> directive_fault(std::string_view text);

/// yaml-cpp takes a quotation that the end of the file cuts off for a whole one, and `\'` for an
/// escape. `at` is the place of the first mark; where there is none, nothing is wrong.
std::optional<TextFault> quotation_fault(std::string_view text, std::size_t at);

}  // namespace baton::yaml
