// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of all built-in dialects, so that all other code can find a dialect by its name.
// A new dialect needs one line in registry.cpp. The configuration says which ones are in use.

#include <span>
#include <string_view>

#include "core/dialect.h"

namespace baton {

std::span<const Dialect* const> dialects();
/// nullptr if there is no dialect of that name.
const Dialect* dialect(std::string_view name);

}  // namespace baton
