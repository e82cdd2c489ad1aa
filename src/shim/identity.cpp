// SPDX-License-Identifier: Apache-2.0
#include "shim/identity.h"

#include <array>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace baton::shim {
namespace {

using CapabilitySets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilitySets sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0)
    return true;
  for (const auto& set : sets) {
    if ((set.permitted | set.inheritable) != 0)
      return true;
  }
  return false;
}

bool take_all() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const CapabilitySets none{};
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         syscall(SYS_capset, &header, none.data()) == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

}  // namespace

// The functions of the C library change the user of all threads. The agent's process shares the
// memory of the shim, whose user must stay. The system calls concern this process alone.
bool become_user(const Launch& launch) {
  if (launch.uid == 0)
    return drop_capabilities();
  const auto uid = static_cast<uid_t>(launch.uid);
  const auto gid = static_cast<gid_t>(launch.gid);
  return syscall(SYS_setgroups, launch.group_count, launch.groups) == 0 &&
         syscall(SYS_setresgid, gid, gid, gid) == 0 && syscall(SYS_setresuid, uid, uid, uid) == 0 &&
         take_all();
}

bool drop_capabilities() {
  return geteuid() == 0 || !has_capabilities() || take_all();
}

}  // namespace baton::shim
