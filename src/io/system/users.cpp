// SPDX-License-Identifier: Apache-2.0
#include "io/system/users.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <grp.h>
#include <pwd.h>

#include "base/text.h"
#include "io/files/disk.h"

namespace baton {
namespace {

struct NeededCapability {
  int number;
  const char* name;
};
constexpr std::array<NeededCapability, 3> kNeeded = {
    {{CAP_KILL, "CAP_KILL"}, {CAP_SETGID, "CAP_SETGID"}, {CAP_SETUID, "CAP_SETUID"}}};
constexpr std::uint32_t kNeededMask = (1U << CAP_KILL) | (1U << CAP_SETGID) | (1U << CAP_SETUID);

using CapabilitySets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

CapabilitySets own_sets() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilitySets sets{};
  (void)syscall(SYS_capget, &header, sets.data());
  return sets;
}

/// The needed capabilities become inheritable, or none does.
bool set_inheritable(std::uint32_t mask) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilitySets sets = own_sets();
  for (auto& set : sets)
    set.inheritable = 0;
  sets[0].inheritable = mask;
  return syscall(SYS_capset, &header, sets.data()) == 0;
}

/// The effective capabilities in the text of /proc/PID/status; 0 if it cannot be read.
std::uint64_t effective_of(std::int64_t process) {
  const std::string path =
      "/proc/" + (process > 0 ? std::to_string(process) : std::string("self")) + "/status";
  const std::string text = read_file(path, std::size_t{64} << 10U).value_or("");
  constexpr std::string_view kLine = "\nCapEff:\t";
  const std::size_t found = text.find(kLine);
  if (found == std::string::npos)
    return 0;
  // NOLINTNEXTLINE(cert-err34-c): the kernel writes 16 hexadecimal digits
  return std::strtoull(text.c_str() + found + kLine.size(), nullptr, 16);
}

}  // namespace

Result<FoundUser> find_user(const std::string& name) {
  const passwd* const found = getpwnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  if (found == nullptr)
    return fail(Errc::config, "this machine has no user `" + printable(name, 200) + "`");
  if (found->pw_uid == 0)
    return fail(Errc::config, "`" + printable(name, 200) + "` is root; no agent runs as root");
  FoundUser user{{name, found->pw_uid, found->pw_gid, {}}, found->pw_dir, found->pw_shell};
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  // Sets the count that is needed, if it is larger.
  if (getgrouplist(name.c_str(), user.ids.gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(std::max(count, 0)));
    if (getgrouplist(name.c_str(), user.ids.gid, groups.data(), &count) < 0)
      return fail(Errc::config, "the groups of the user cannot be read", name);
  }
  groups.resize(static_cast<std::size_t>(count));
  user.ids.groups.assign(groups.begin(), groups.end());
  return user;
}

std::string cannot_change_users(std::int64_t process) {
  const std::uint64_t effective = effective_of(process);
  std::vector<std::string> missing;
  for (const NeededCapability& each : kNeeded)
    if ((effective >> static_cast<unsigned>(each.number) & 1U) == 0)
      missing.emplace_back(each.name);
  if (missing.empty())
    return {};
  return "the daemon lacks " + join(missing, ", ") +
         ", which it needs to run programs as other users";
}

void keep_capabilities_from_programs() {
  const CapabilitySets sets = own_sets();
  if (geteuid() == 0 || (sets[0].permitted | sets[1].permitted) == 0)
    return;
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  (void)set_inheritable(0);
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

CapabilitiesForShim::CapabilitiesForShim() {
  // Without all three, no role can have a user, and the shim needs none of them.
  if (geteuid() == 0 || (own_sets()[0].effective & kNeededMask) != kNeededMask)
    return;
  passed_on_ = set_inheritable(kNeededMask);
  for (const NeededCapability& each : kNeeded)
    if (passed_on_)
      (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, each.number, 0, 0);
}

CapabilitiesForShim::~CapabilitiesForShim() {
  if (!passed_on_)
    return;
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  (void)set_inheritable(0);
}

}  // namespace baton
