#pragma once

#include <string>

#include "base/result.h"
#include "core/event.h"

namespace baton {

/// Adds `--max-steps N` of a loop to the request; does nothing when it was not given. Errc::usage.
Result<void> add_max_steps(const std::string& given, Request& request);

}  // namespace baton
