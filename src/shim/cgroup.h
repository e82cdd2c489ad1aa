#pragma once

#include <sys/types.h>

namespace baton::shim {

/// Makes a cgroup for the run below `parent` (a delegated cgroup v2 directory), writes its path to
/// `path` and returns its directory; -1 when there is none to be had: then the run does without.
int make_cgroup(const char* parent, const char* run_id, char* path, unsigned long size);
/// Opens one that a killed shim has made.
int open_cgroup(const char* path);
void enter_cgroup(int cgroup, pid_t process);
/// Ends everything in it at once, whatever it forks meanwhile.
void kill_cgroup(int cgroup);
void remove_cgroup(const char* path);

}  // namespace baton::shim
