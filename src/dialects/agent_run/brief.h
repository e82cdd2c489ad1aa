#pragma once

#include <array>
#include <string_view>

#include "core/dialect.h"

namespace baton::agent_run {

/// The prompt file's text, and the environment of the original (format page).
Brief brief(const View& view, const Desired& desired);

/// What it adds to the placeholders of a command.
inline constexpr std::array<std::string_view, 8> kPlaceholders = {
    "agent", "manual_input", "model", "prompt", "repo", "report", "step_attempt", "step_id"};

}  // namespace baton::agent_run
