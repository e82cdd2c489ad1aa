#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/files/fd.h"
#include "io/system/process.h"

namespace baton {

/// How `baton-shim` is called; see shim/protocol.h.
struct ShimCall {
  std::vector<std::string> argv;  ///< argv[0] is its absolute path
  int directory = -1;
  int lock = -1;
  int go = -1;      ///< -1: none
  int launch = -1;  ///< -1: none
};

/// A shim that was started, and the descriptor to wait for it by.
struct StartedShim {
  std::int64_t pid = 0;
  Fd process;
  AwaitedChild awaited;
};

/// Starts it with exactly what the protocol names. Errc::busy when processes, descriptors or memory
/// have run out; not_found, denied, io for a shim that cannot be started.
Result<StartedShim> spawn_shim(const ShimCall& call);

/// Whether a shim understands how this program calls it. Errors as of `run_command`.
Result<bool> shim_fits(const std::string& shim);

}  // namespace baton
