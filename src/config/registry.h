#pragma once

// The list of all dialects. A new dialect needs one line in registry.cpp.

#include <span>
#include <string_view>

#include "core/dialect.h"

namespace baton {

std::span<const Dialect* const> dialects();
const Dialect* dialect(std::string_view name);

}  // namespace baton
