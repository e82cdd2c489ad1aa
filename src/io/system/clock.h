// SPDX-License-Identifier: Apache-2.0
#pragma once

// The `Clock` port on the clocks of this machine.

#include <memory>

#include "core/ports.h"

namespace baton {

/// `now` never jumps: it is the wall clock at the time of creation plus the boot-time clock since
/// then, and so counts sleep too. Two clocks differ if the wall clock was set in between. `wall` is
/// the wall clock, which may jump. Neither fails.
std::unique_ptr<Clock> real_clock();

}  // namespace baton
