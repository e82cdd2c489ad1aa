// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cgroup of a run: it catches processes that leave the agent's session and tree, and can kill
// all of them at once. A run without a cgroup works too.

#include <cstdint>
#include <string_view>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <dirent.h>

namespace baton::shim {

/// Creates a cgroup for the run below `parent` (a delegated cgroup v2 directory), writes its path
/// to `path` and returns its directory. -1 when this is impossible: then the run has none.
int make_cgroup(const char* parent, const char* run_id, char* path, unsigned long size);
/// Opens the cgroup that a killed shim made for the run. Also -1 for any other path: an agent can
/// write what it likes into its record.
int open_cgroup_of(const char* run_id, const char* path);
/// False if the process is not in it.
bool enter_cgroup(int cgroup, pid_t process);
/// Sets the limits of the run (0: none), as far as the cgroup has the controllers for them.
void limit_cgroup(int cgroup, std::uint64_t memory_max_bytes, std::uint64_t tasks_max);
/// The CPU time, in milliseconds, of all that ran in the cgroup; -1 when unknown.
std::int64_t cgroup_cpu_ms(int cgroup);
/// How often the kernel has killed a process for memory: a process of the cgroup if that counts its
/// memory, else any process of the machine.
std::uint64_t memory_kills(int cgroup);
/// The most memory that the cgroup has used; 0 when unknown.
std::uint64_t memory_peak_kib(int cgroup);
/// Kills everything in it at once, even what forks meanwhile.
void kill_cgroup(int cgroup);
/// Removes it, with the cgroups that the agent made in it.
void remove_cgroup(const char* path);

/// Deeper cgroups of agents are not removed.
constexpr int kDeepestCgroup = 16;

/// Calls `act(directory, name)` for each child cgroup.
template <class Act>
void for_each_below(int cgroup, const Act& act) {
  const int own = openat(cgroup, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = own < 0 ? nullptr : fdopendir(own);
  if (list == nullptr) {
    close(own);
    return;
  }
  while (const dirent* const entry = readdir(list)) {
    const std::string_view name(entry->d_name);
    if (entry->d_type != DT_DIR || name == "." || name == "..")
      continue;
    const int below = openat(own, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (below < 0)
      continue;
    act(below, entry->d_name);
    close(below);
  }
  closedir(list);
}

}  // namespace baton::shim
