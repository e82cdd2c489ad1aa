// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names the process that locks a database of baton's, for people. It asks the kernel's list of
// locks: to ask by a descriptor of the file would end the locks of this process when it is closed.

#include <cstdint>
#include <optional>
#include <string>

namespace baton {

/// The byte of the `-shm` file that the one writer of a database with a write-ahead log locks.
inline constexpr std::uint64_t kWalWriteByte = 120;

/// "it is locked by process 4711 (python3); end that process, or wait until it lets go". `byte`:
/// only a lock on this byte of the file counts. The process is not named if it is unknown, as for
/// processes in other containers.
std::string locked_by(const std::string& path, std::optional<std::uint64_t> byte = std::nullopt);

}  // namespace baton
