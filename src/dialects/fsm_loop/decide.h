#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect.h"

namespace baton::fsm_loop {

/// What a command may have filled in besides.
inline constexpr std::array kPlaceholders = {std::string_view("iteration"),
                                             std::string_view("loop"), std::string_view("model"),
                                             std::string_view("state")};

Decision decide(const View& view);
std::vector<std::string> reads(const View& view);
Brief brief(const View& view, const Desired& desired);
std::vector<Create> rebuild(const View& view);
Admission admit(const View& view, const Change& change);

}  // namespace baton::fsm_loop
