// SPDX-License-Identifier: Apache-2.0
#pragma once

// The users of this machine, and how root continues as one of them. Root must not open what another
// user can exchange: that user would choose what root reads, removes and starts.

#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace baton {

/// This very command line as `user` would give it: `sudo -u alice baton stop --all`. The option and
/// its value are added if the command line does not have the option.
std::string command_as(uid_t user, const std::string& option = "", const std::string& value = "");

/// The end of a message about a file or folder that is not trusted (io/files/path_trust.h): what to
/// do where its owner is in charge of it. "" if the message itself says what ends it.
std::string advice_on_owner(const std::string& where);

/// Gives up the rights of root for good: this process continues as `user`, with the groups of that
/// user, and with HOME, USER and LOGNAME as `sudo -u` sets them. A user without a name gets no
/// group. Errc::denied: the system does not allow it; then the process must end.
Result<void> continue_as(uid_t user);

}  // namespace baton
