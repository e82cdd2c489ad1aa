#pragma once

#include <string>
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

/// Puts together what one start needs. Errc::denied when a value from a file would become an option
/// (begins with `-` where the argument begins with it), would lead the working directory out of
/// where the configuration has it (`..`), or cannot be passed at all (a NUL in it).
Result<Launch> make_launch(const Start& start, const AgentSpec& spec, const Brief& brief,
                           const Environment& environment);

}  // namespace baton
