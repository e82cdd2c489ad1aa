#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace baton {

/// What `--set` gives: `NAME=JSON` or `/POINTER=JSON`, as the dialect has it, as members of one
/// object. With `texts` a value that is no JSON is a text. Errc::usage.
Result<Json> settings(const std::vector<std::string>& words, bool texts);

}  // namespace baton
