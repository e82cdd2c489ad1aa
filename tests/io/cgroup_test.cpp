// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "io/agents/agents.h"

using baton::cgroup_directory;

namespace {

struct Case {
  const char* what;
  const char* cgroup;
  const char* mountinfo;
  const char* directory;  ///< nullptr: none
};

constexpr Case kCases[] = {
    {"unified", "0::/system.slice/baton.service\n",
     "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
     "/sys/fs/cgroup/system.slice/baton.service"},
    {"hybrid", "8:pids:/a\n0::/b\n",
     "31 30 0:27 / /sys/fs/cgroup/pids rw shared:5 - cgroup cgroup rw,pids\n"
     "32 30 0:28 / /sys/fs/cgroup/unified rw shared:6 - cgroup2 cgroup2 rw\n",
     "/sys/fs/cgroup/unified/b"},
    {"the root of a namespace", "0::/\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n",
     "/sys/fs/cgroup"},
    {"a part is mounted", "0::/box/inner\n",
     "30 23 0:26 /box /sys/fs/cgroup rw - cgroup2 none rw\n", "/sys/fs/cgroup/inner"},
    {"another part is mounted", "0::/boxes\n",
     "30 23 0:26 /box /sys/fs/cgroup rw - cgroup2 none rw\n", nullptr},
    {"a place with a blank", "0::/a\n", "30 23 0:26 / /mnt/a\\040b rw - cgroup2 none rw\n",
     "/mnt/a b/a"},
    {"version 1 only", "8:pids:/a\n", "31 30 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw\n",
     nullptr},
    {"outside of the namespace", "0::/../other\n",
     "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n", nullptr},
    {"mounted nowhere", "0::/a\n", "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n", nullptr},
    {"nonsense", "0:", " - cgroup2 \n- cgroup2", nullptr},
};

}  // namespace

TEST_CASE("where a cgroup lies") {
  for (const Case& each : kCases) {
    CAPTURE(each.what);
    const auto directory = cgroup_directory(each.cgroup, each.mountinfo);
    CHECK(directory.value_or("none") == (each.directory != nullptr ? each.directory : "none"));
  }
}
