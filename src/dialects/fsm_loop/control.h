#pragma once

#include <array>
#include <string_view>

#include "dialects/fsm_loop/machine.h"

namespace baton::fsm_loop {

inline constexpr std::array kVerbs = {std::string_view("resume"), std::string_view("stop")};

/// Whether a process is known to live, known to be dead, or nothing is known of it.
enum class Owner { unknown, alive, dead };
/// The owner of a loop that another program runs: by its `.pid` file, else by the pid in its lock,
/// else in its state.
Owner owner_of(const Scene& scene);
/// Whether the loop's lock names a living process that is not this daemon.
bool lock_of_another(const Scene& scene);

/// Why nothing is done for it, for people; empty while baton runs it.
std::string standing(Scene& scene);

/// Deals with the requests that are the loop's own: stop, resume. Each once.
void answer(Scene& scene, Machine& machine, Decision& decision);

}  // namespace baton::fsm_loop
