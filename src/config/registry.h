#pragma once

#include <span>
#include <string_view>

#include "core/dialect.h"

namespace baton {

/// All dialects, one line each.
std::span<const Dialect* const> dialects();
const Dialect* dialect(std::string_view name);

}  // namespace baton
