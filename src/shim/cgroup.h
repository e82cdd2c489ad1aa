#pragma once

#include <string_view>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <dirent.h>

namespace baton::shim {

/// Makes a cgroup for the run below `parent` (a delegated cgroup v2 directory), writes its path to
/// `path` and returns its directory; -1 when there is none to be had: then the run does without.
int make_cgroup(const char* parent, const char* run_id, char* path, unsigned long size);
/// Opens the one that a killed shim has made for the run. -1 as well for any other: an agent can
/// write what it likes into its record.
int open_cgroup_of(const char* run_id, const char* path);
void enter_cgroup(int cgroup, pid_t process);
/// Ends everything in it at once, whatever it forks meanwhile.
void kill_cgroup(int cgroup);
/// With those that the agent has made in it.
void remove_cgroup(const char* path);

/// Those that agents make are not deeper than that, or stay.
constexpr int kDeepestCgroup = 16;

/// `act(directory, name)` for each cgroup right below.
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
