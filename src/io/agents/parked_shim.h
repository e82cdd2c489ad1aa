// SPDX-License-Identifier: Apache-2.0
#pragma once

// A shim that is started before its run is known. Most work of a start does not depend on the run:
// the process, pipes, logs. Doing it ahead makes the next start fast. The shim waits in a directory
// of its own; when it gets a run, the directory is renamed to that of the run.

#include <cstdint>
#include <string>
#include <vector>

#include "core/ports.h"
#include "io/agents/run_directory.h"
#include "io/files/fd.h"
#include "io/system/process.h"

namespace baton {

/// A shim that has got its run and waits at the go-pipe. The holder of this object owns its
/// directory and its process.
struct PreparedShim {
  RunId id;
  std::string directory;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  Fd process;  ///< pidfd
  AwaitedChild awaited;
  Fd go;
};

/// What stands before the command of a shim: words that make its unit (systemd_units.h) and the
/// environment for them. Empty: the shim is started directly.
struct ShimPrefix {
  std::vector<std::string> words = {};
  std::vector<std::string> env = {};
};

/// A shim that waits for a run. When the object is destroyed, the shim ends and its directory is
/// removed.
class ParkedShim {
 public:
  /// `shim` is the absolute path of `baton-shim`. Errors as for `spawn_shim` and
  /// `make_spare_directory`; nothing is left then.
  static Result<ParkedShim> make(const RunFolder& runs, const std::string& shim,
                                 const std::string& boot_id, const ShimPrefix& prefix = {});
  ~ParkedShim();
  ParkedShim(const ParkedShim&) = delete;
  ParkedShim& operator=(const ParkedShim&) = delete;
  ParkedShim(ParkedShim&&) = default;
  ParkedShim& operator=(ParkedShim&&) = delete;

  /// Whether the shim has ended: it was killed or failed.
  bool ended() const;

  /// Gives the shim its run and hands it over. After an error nothing is left of it. `cgroup` as in
  /// ProcessAgentsOptions.
  Result<PreparedShim> assign(const RunFolder& runs, const Launch& launch,
                              const std::string& cgroup) &&;

 private:
  ParkedShim() = default;
  Result<void> start(const RunFolder& runs, const std::string& shim, const std::string& boot_id,
                     const ShimPrefix& prefix);

  PreparedShim shim_;
  SpareDirectory place_;
  Fd launch_;  ///< a file in memory, as is `prompt_`
  Fd prompt_;
};

/// Ends a shim that was not released and whose pipe is closed, and collects its exit status. Waits
/// for the end, because the shim may be creating a file in the directory that will be removed. The
/// process that was to become the agent ends with it.
void end_parked(const Fd& process);

}  // namespace baton
