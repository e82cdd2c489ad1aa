// SPDX-License-Identifier: Apache-2.0
#pragma once

// The user and the capabilities of the programs that the shim enters. The shim itself keeps the
// user of the daemon. With the capabilities that the daemon passes on (io/system/users.h) it can
// change the user of an agent's process and signal that process. No program gets them.

#include "shim/launch.h"

namespace baton::shim {

/// Makes this process one of the launch's user with that user's groups, if the launch names one,
/// and calls `drop_capabilities`. False with errno: something is not as the launch says, so the
/// program must not be entered.
bool become_user(const Launch& launch);

/// Takes all capabilities from this process for good, and keeps it from getting others by a setuid
/// program. Without capabilities, and as root, it changes nothing: root's daemon gives its agents
/// what it has itself. False with errno on failure.
bool drop_capabilities();

}  // namespace baton::shim
