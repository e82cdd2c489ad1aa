// SPDX-License-Identifier: Apache-2.0
#pragma once

// As whom a command acts. Root never works in what belongs to another user: it continues as that
// user, before anything is opened, as if the command had begun with `sudo -u`.

#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/options.h"

namespace baton {

/// For a command on the state of a root. If this is root, and the state belongs to another user,
/// the process continues as that user (io/system/users.h). `here` is the current folder.
/// Errc::denied: the system does not allow it; the message has the right command.
Result<void> act_as_owner_of_state(const Places& places, const std::string& here);

/// For the daemon, which root starts by a slip where another user has one. Errc::denied: the state
/// belongs to another user; the message has the right command.
Result<void> refuse_state_of_others(const Places& places);

/// For the daemon: root starts no agents in a folder of another user, whoever wrote the
/// configuration. Errc::denied: a root belongs to another user; the message has the right command.
Result<void> refuse_roots_of_others(const std::vector<std::string>& roots);

/// For a command that asks git about the work tree around the current folder. Git runs what the
/// configuration of the repository names, so root continues as the owner of the repository.
Result<void> act_as_owner_of_work_tree();

}  // namespace baton
