// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts `baton-shim` with exactly the descriptors and arguments that shim/protocol.h specifies,
// and nothing else of this process. Standard streams that are
// not passed on are /dev/null.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/files/fd.h"
#include "io/system/process.h"

namespace baton {

/// The arguments and descriptors of one call of `baton-shim`.
struct ShimCall {
  std::vector<std::string> argv;                 ///< argv[0] is its absolute path
  std::vector<std::pair<int, int>> descriptors;  ///< ours, and their numbers in the shim
  std::vector<std::string> env = {};
};

/// A started shim, and the descriptor to wait for its end.
struct StartedShim {
  std::int64_t pid = 0;
  Fd process;
  AwaitedChild awaited;
};

/// Errc::busy when processes, descriptors or memory have run out; not_found, denied, io when the
/// shim cannot be started.
Result<StartedShim> spawn_shim(const ShimCall& call);

/// Whether the shim has the protocol version of this program. Errors as for `run_command`.
Result<bool> shim_fits(const std::string& shim);

}  // namespace baton
