// SPDX-License-Identifier: Apache-2.0
#pragma once

// Agents of another user than the daemon's (`user:` of a role). The daemon needs the capabilities
// to change users and to signal the processes of others. It passes them on to shims only; a shim
// takes them from every program (shim/identity.h).

#include <cstdint>
#include <string>

#include "base/pinned.h"
#include "base/result.h"
#include "core/run.h"

namespace baton {

/// The ids of a user of this machine. Errc::config: there is no such user, or it is root, as whom
/// no agent runs for another user.
struct FoundUser {
  ProgramUser ids;
  std::string home;
  std::string shell;
};
Result<FoundUser> find_user(const std::string& name);

/// Why a daemon cannot start agents as other users; "" if it can. `process`: the daemon, or 0 for
/// one that this process would become.
std::string cannot_change_users(std::int64_t process);

/// For the start of a daemon that is not root's: from here on, programs that it executes get none
/// of its capabilities, and none by setuid. Without capabilities nothing changes.
void keep_capabilities_from_programs();

/// While it exists, programs that this process executes get its capabilities, if it has any and is
/// not root's. For shims only; the process has one thread.
class CapabilitiesForShim : private Pinned {
 public:
  CapabilitiesForShim();
  ~CapabilitiesForShim();

 private:
  bool passed_on_ = false;
};

}  // namespace baton
