#pragma once

#include <array>
#include <string_view>

#include "dialects/ccw_loop/scene.h"

namespace baton::ccw_loop {

/// What a loop does itself with these; what it leaves unanswered is the engine's.
inline constexpr std::array kVerbs = {std::string_view("start"),  std::string_view("pause"),
                                      std::string_view("resume"), std::string_view("stop"),
                                      std::string_view("retry"),  std::string_view("answer"),
                                      std::string_view("forget")};

/// Deals with the requests of this flow: control words into `writes`, replies into `decision`.
void answer(Scene& scene, Writes& writes, Decision& decision);

}  // namespace baton::ccw_loop
