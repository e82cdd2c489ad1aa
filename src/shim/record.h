#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "shim/proc.h"

namespace baton::shim {

constexpr std::size_t kBootIdBytes = 40;
constexpr std::size_t kPathBytes = 4096;

/// Makes `claim` of what was written for it. False when it exists or cannot be made: then nothing
/// may be started.
bool make_claim(int directory);
/// Whether that has been done here, by whichever process.
bool claim_made(int directory);

/// `agent`, for the case that the shim is killed.
bool write_agent(int directory, const Stat& agent);
/// Adds the cgroup, which is known later.
bool add_cgroup(int directory, const char* path);
/// Removes it, for its process is gone.
void remove_agent(int directory);
struct AgentRecord {
  pid_t session = 0;
  std::uint64_t start_ticks = 0;
  char boot_id[kBootIdBytes] = {};
  char cgroup[kPathBytes] = {};  ///< "": none
};
bool read_agent(int directory, AgentRecord& agent);

/// What goes into exit.json.
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
};

/// Writes exit.json durably, whatever stands in its place. Tries again each second until there is
/// room for it; false only when the run directory itself is gone, or somebody has taken this
/// process all its descriptors.
bool write_exit(int directory, const char* run_id, const ExitRecord& exit);

}  // namespace baton::shim
