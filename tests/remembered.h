// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "world.h"

namespace baton::testing {

/// A promise of the engine: what it knows is in the journal. What a daemon that is started now
/// would know otherwise than the one that lives; nothing where that is the same, or none lives.
std::optional<std::string> remembered_otherwise(World& world);

}  // namespace baton::testing
