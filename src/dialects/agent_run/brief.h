#pragma once

#include <array>
#include <string_view>

#include "core/dialect.h"

namespace baton::agent_run {

/// The prompt file's text, and the environment of the original (format page).
Brief brief(const View& view, const Desired& desired);

/// What it adds to the placeholders of a command.
inline constexpr std::array kPlaceholders = {
    std::string_view("agent"),        std::string_view("manual_input"), std::string_view("model"),
    std::string_view("prompt"),       std::string_view("repo"),         std::string_view("report"),
    std::string_view("step_attempt"), std::string_view("step_id"),
};

}  // namespace baton::agent_run
