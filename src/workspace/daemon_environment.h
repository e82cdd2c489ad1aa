// SPDX-License-Identifier: Apache-2.0
#pragma once

// `environment.json` in a state folder: the environment of the running daemon, for `baton doctor`.
// Nobody can read it from /proc, because the daemon hides its memory there (io/system/process.h).
//
// The file has the names of all variables. It has the value only of a variable that cannot be a
// secret: PATH, the path of a folder (HOME, folders of logins), or at most one character. Only the
// daemon's user can read it. It counts only for the process that it names.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace baton {

/// Variables by name; nothing: it is set, but its value was not written down.
using DaemonEnvironment = std::map<std::string, std::optional<std::string>>;

/// Writes the file for the daemon `pid`, which has these variables.
Result<void> write_daemon_environment(
    const std::string& state_folder, std::int64_t pid,
    const std::vector<std::pair<std::string, std::string>>& variables);

/// Errc::changed: the file is of another process; denied, not_found, io: it cannot be read.
Result<DaemonEnvironment> read_daemon_environment(const std::string& state_folder,
                                                  std::int64_t pid);

}  // namespace baton
