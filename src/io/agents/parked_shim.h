#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/ports.h"
#include "io/agents/run_directory.h"
#include "io/files/fd.h"
#include "io/system/process.h"

namespace baton {

/// A shim that was told its run: it waits for the go-pipe. From here on its directory and its
/// process are the holder's.
struct PreparedShim {
  RunId id;
  std::string directory;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  Fd process;  ///< pidfd
  AwaitedChild awaited;
  Fd go;
};

/// A shim that waits to be told its run, in a directory that is no run's yet; both leave with the
/// object. One made ahead saves the next start most of its time.
class ParkedShim {
 public:
  /// `shim` is the absolute path of `baton-shim`. Errors as of `spawn_shim` and
  /// `make_spare_directory`; nothing is left then.
  static Result<ParkedShim> make(const RunFolder& runs, const std::string& shim,
                                 const std::string& boot_id);
  ~ParkedShim();
  ParkedShim(const ParkedShim&) = delete;
  ParkedShim& operator=(const ParkedShim&) = delete;
  ParkedShim(ParkedShim&&) = default;
  ParkedShim& operator=(ParkedShim&&) = delete;

  /// It was killed, or came to grief.
  bool ended() const;

  /// Tells it what to start, and gives it up. After an error nothing is left of it. `cgroup` as in
  /// ProcessAgentsOptions.
  Result<PreparedShim> tell(const RunFolder& runs, const Launch& launch,
                            const std::string& cgroup) &&;

 private:
  ParkedShim() = default;
  Result<void> start(const RunFolder& runs, const std::string& shim, const std::string& boot_id);

  PreparedShim shim_;
  SpareDirectory place_;
  Fd launch_;  ///< a file in memory
};

/// Ends a shim that was not let go and whose pipe is closed, and takes its exit status. It has
/// nothing to end but itself and the process that stands behind it, and is waited for: it may be
/// making a file in the directory that is about to be removed. That process ends with it.
void end_parked(const Fd& process);

}  // namespace baton
