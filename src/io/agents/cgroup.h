#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// Where the cgroup of a process lies, from /proc/PID/cgroup and /proc/PID/mountinfo (cgroups(7),
/// proc(5)): absolute, of version 2. Nothing when it has none or its part of the tree is mounted
/// nowhere.
std::optional<std::string> cgroup_directory(std::string_view cgroup, std::string_view mountinfo);

/// The cgroup of this process, if it is ours to divide: a service manager has handed it over
/// (`Delegate=yes`). Whoever is not root may make a cgroup only in one that was handed over; for
/// root, who may do it anywhere, the manager's mark counts. "" when there is none.
std::string delegated_cgroup();

}  // namespace baton
