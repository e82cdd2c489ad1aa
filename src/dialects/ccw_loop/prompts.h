#pragma once

#include <array>
#include <string_view>

#include "core/dialect.h"

namespace baton::ccw_loop {

/// What an executor is told: with it any agent can do the job, whatever command line it has.
Brief brief(const View& view, const Desired& desired);

/// The names `brief` adds to the placeholders of commands.
inline constexpr std::array kPlaceholders = {std::string_view("loop_id"),
                                             std::string_view("progress_dir"),
                                             std::string_view("action"), std::string_view("mode")};

}  // namespace baton::ccw_loop
