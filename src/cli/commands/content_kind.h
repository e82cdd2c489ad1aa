// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out what a named file is that stands in no usual place: `baton validate` looks into it.

#include <string_view>

#include "base/json/json.h"

namespace baton {

/// The name of the schema of a configuration.
inline constexpr std::string_view kConfiguration = "config";

/// `agent_run/workflow`, `fsm_loop/definition`, `config` or `adapter`; empty: unknown. Asks for
/// several signs, because files of other programs have some of these words, too.
std::string_view kind_by_content(const Value& root);

}  // namespace baton
