#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace baton {

/// Reads `--set` options, `NAME=JSON` or `/POINTER=JSON` as the dialect has it, into one object.
/// With `texts`, a value that is not JSON becomes a string. Errc::usage.
Result<Json> settings(const std::vector<std::string>& words, bool texts);

}  // namespace baton
