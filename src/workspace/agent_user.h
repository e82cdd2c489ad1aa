// SPDX-License-Identifier: Apache-2.0
#pragma once

// `user:` of a role: the agent's program runs as another user than the daemon. It gets that user's
// home and name. Whether a daemon may start it is another question, which `run` and `doctor` ask.

#include <cstdint>
#include <string>

#include "config/config.h"
#include "config/setup.h"

namespace baton {

/// Sets `spec.user` and the variables of the user, unless the user is that of this process.
/// Errc::config: there is no such user, or it is root; nothing is changed then.
Result<void> take_user(const AgentConfig& agent, AgentSpec& spec);

/// Why a daemon could not start programs as this user; "" if it could. `daemon`: its process, or 0
/// for one that this process would become.
std::string user_fault(const ProgramUser& user, std::int64_t daemon);

/// Errc::config with the reason and the way out, if this process as a daemon could not start an
/// agent of the configuration as its user.
Result<void> check_users(const Config& config);

/// What to do about a `user_fault`.
extern const char* const kUserAdvice;

}  // namespace baton
