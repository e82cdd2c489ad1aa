#pragma once

#include <string>

#include "base/result.h"
#include "core/event.h"

namespace baton {

/// `--max-steps N` of a loop as an argument of the request; nothing where it was not given.
/// Errc::usage.
Result<void> add_max_steps(const std::string& given, Request& request);

}  // namespace baton
