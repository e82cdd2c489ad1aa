#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/setup.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/ports.h"

namespace baton {

/// The names that may stand in `${...}` everywhere; a dialect's brief may add more.
const std::vector<std::string>& placeholder_names();

/// A built-in template of a dialect: the text of schemas/DIALECT/prompts/NAME.md. `ROLE` is the
/// whole prompt of a role; `ROLE.PURPOSE` takes the place of `${job}` in it. Empty: there is none.
std::string_view prompt_template(std::string_view dialect, std::string_view name);
std::vector<std::string> prompt_template_names(std::string_view dialect);
/// The names that may stand in `${...}` in all templates of a dialect, with empty values: the
/// general ones, `why`, `job`, and those that its built-in templates use.
std::map<std::string, std::string> prompt_placeholders(std::string_view dialect);

/// Puts together what one start needs. Errc::denied when a value from a file would become an option
/// (begins with `-` where the argument begins with it), would lead the working directory out of
/// where the configuration has it (`..`), or cannot be passed at all (a NUL in it).
Result<Launch> make_launch(const Start& start, const AgentSpec& spec, const Brief& brief,
                           const Environment& environment);

}  // namespace baton
