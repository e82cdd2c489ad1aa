// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an agent says, taken out of the events that its program prints. Dialects look into it for
// reports, signals and words; what the agent was told, and what its tools printed, must not count.

#include <string>
#include <string_view>

namespace baton {

/// The text that an agent wrote to stdout. If its program writes JSON events, these are the texts
/// in the events, each on its own lines; a result that repeats the last text is left out. Prompts
/// and tool results are left out. Other lines stay as they are.
std::string agent_text(std::string_view output);

}  // namespace baton
