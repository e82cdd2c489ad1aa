#pragma once

#include <memory>

#include "core/ports.h"

namespace baton {

/// The clock of this machine. `now` is the wall clock of the moment it was made plus what the
/// boot-time clock has run since, so it never jumps and also counts the time the machine sleeps;
/// two of one machine may differ by what the wall clock was set in between. `wall` is the wall
/// clock itself, which may jump. Neither fails.
std::unique_ptr<Clock> real_clock();

}  // namespace baton
