// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that the shim writes into the run directory, above all `claim` and exit.json. Both must
// be complete and durable, whatever the agent does in that directory.

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "shim/proc.h"

namespace baton::shim {

constexpr std::size_t kBootIdBytes = 40;
constexpr std::size_t kPathBytes = 4096;

/// Gives the prepared claim its final name. False when the claim exists or cannot be made: then
/// nothing may be started.
bool make_claim(int directory);
/// Whether the run was claimed, by any process.
bool claim_made(int directory);

/// Writes `agent`, the record that is needed if the shim is killed.
bool write_agent(int directory, const Stat& agent);
/// Adds the cgroup, which is known later.
bool add_cgroup(int directory, const char* path);
/// Removes the record of a process that is gone.
void remove_agent(int directory);
struct AgentRecord {
  pid_t session = 0;
  std::uint64_t start_ticks = 0;
  char boot_id[kBootIdBytes] = {};
  char cgroup[kPathBytes] = {};  ///< "": no cgroup
};
bool read_agent(int directory, AgentRecord& agent);

/// The content of exit.json.
struct ExitRecord {
  const char* cause = nullptr;
  int exit_code = -1;           ///< -1: none
  int signal = 0;               ///< 0: none
  const char* error_step = "";  ///< what failed, with error_number
  int error_number = 0;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::int64_t wall_ms = 0;
  std::int64_t user_ms = 0;
  std::int64_t system_ms = 0;
  std::int64_t max_rss_kib = 0;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  std::uint64_t stdout_dropped = 0;
  std::uint64_t stderr_dropped = 0;
  int leftovers = 0;
  int survivors = 0;
  std::uint64_t memory_kills = 0;
  std::uint64_t memory_peak_kib = 0;
};

/// Writes exit.json durably, whatever has its name. Tries again each second until there is space.
/// False only when the run directory is gone, or this process has lost all its descriptors.
bool write_exit(int directory, const char* run_id, const ExitRecord& exit);

}  // namespace baton::shim
