// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the launch file, in which the daemon says what to start (protocol.h has the format).

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace baton::shim {

/// Times are milliseconds; 0: no limit.
struct Launch {
  const char* cwd = nullptr;
  const char* cgroup = nullptr;  ///< nullptr: none
  const char* log = nullptr;     ///< both streams in one file; nullptr: none
  bool prompt = false;           ///< stdin is the prompt file, else /dev/null
  std::uint64_t timeout_ms = 0;
  std::uint64_t idle_timeout_ms = 0;
  std::uint64_t kill_grace_ms = 0;
  std::uint64_t log_cap_bytes = 0;
  std::uint64_t uid = 0;  ///< of the program, with `gid` and `groups`; 0: the shim's own user
  std::uint64_t gid = 0;
  gid_t* groups = nullptr;
  std::size_t group_count = 0;
  std::uint64_t memory_max_bytes = 0;
  std::uint64_t tasks_max = 0;
  char** argv = nullptr;  ///< ends in nullptr
  /// The program that runs before the agent; its first entry is nullptr when there is none.
  char** before = nullptr;
  const char* before_cwd = nullptr;
  std::uint64_t before_ms = 0;
  char** env = nullptr;  ///< ends in nullptr
  /// Where a silent agent may change files: `cwd` and the paths of the flow. Ends in nullptr.
  char** watch = nullptr;
};

/// Returns false when the file is incomplete, damaged or of another run. The memory is never freed:
/// a shim reads one launch.
bool read_launch(int file, const char* run_id, Launch& launch);

}  // namespace baton::shim
