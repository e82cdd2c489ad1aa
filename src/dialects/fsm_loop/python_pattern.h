#pragma once

#include <string_view>

#include "base/schema/pattern.h"

namespace baton::fsm_loop {

/// A regular expression as loop definitions spell it: Python's syntax as far as ECMA-262 has the
/// same, besides flags at the beginning (`(?i)`, also a, m, s, u), `(?P<name>`, `(?P=name)`, `\A`
/// and `\Z`; `.`, `^` and `$` mean what they mean there. Errc::schema for everything else, such as
/// `(?x)`, `(?#...)` and conditions; then it is looked for as plain text, as the original does with
/// what its engine does not know.
Result<Pattern> python_pattern(std::string_view text);

}  // namespace baton::fsm_loop
