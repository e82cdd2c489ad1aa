// SPDX-License-Identifier: Apache-2.0
#include "io/agents/systemd_units.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "base/digest.h"
#include "base/text.h"
#include "io/agents/agents.h"
#include "io/files/disk.h"
#include "io/system/command.h"

namespace baton {
namespace {

constexpr const char* kSystemdRun = "/usr/bin/systemd-run";
constexpr const char* kSystemctl = "/usr/bin/systemctl";
constexpr const char* kSlice = "baton.slice";
constexpr Millis kPatience{5000};
constexpr std::size_t kMostOutput = 64U << 10U;
constexpr std::size_t kMostMountinfo = 16U << 20U;
/// How much later than the shim the unit ends a run.
constexpr std::chrono::seconds kAfterShim{300};
constexpr std::size_t kMostOfName = 120;  ///< a unit name may have 255 bytes
constexpr std::size_t kDigestDigits = 16;

Result<std::string> output_of(const std::vector<std::string>& argv,
                              const std::vector<std::string>& env) {
  auto running = RunningCommand::start(argv, "", kMostOutput, kPatience, env);
  if (!running)
    return pass_on(running);
  auto ended = (*running)->ended(true);
  if (!ended)
    return fail(Errc::io, "it has not ended", argv.front());
  if (!*ended)
    return pass_on(*ended);
  if ((*ended)->exit != 0)
    return fail(Errc::io,
                "it ended with " + std::to_string((*ended)->exit) + ": " +
                    printable(std::string(trimmed((*ended)->errors))),
                argv.front());
  return std::string(trimmed((*ended)->output));
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// For a user, the manager listens in the folder that logind makes for the user.
Result<SystemdUnits> manager_of_user() {
  if (geteuid() == 0) {
    if (access("/run/systemd/system", F_OK) != 0)
      return fail(Errc::not_found, "systemd is not the init system here");
    return SystemdUnits{{kSystemdRun, "--system"}, {}, ""};
  }
  std::string folder = environment("XDG_RUNTIME_DIR");
  if (folder.empty())
    folder = "/run/user/" + std::to_string(geteuid());
  if (access((folder + "/systemd/private").c_str(), R_OK | W_OK) != 0)
    return fail(
        Errc::not_found,
        "only root and users with a systemd manager of their own can make units, and user " +
            std::to_string(geteuid()) + " has none; `loginctl enable-linger USER` gives one");
  SystemdUnits units{{kSystemdRun, "--user"}, {"XDG_RUNTIME_DIR=" + folder}, ""};
  if (const std::string bus = environment("DBUS_SESSION_BUS_ADDRESS"); !bus.empty())
    units.env.push_back("DBUS_SESSION_BUS_ADDRESS=" + bus);
  return units;
}

std::vector<std::string> scope(const SystemdUnits& units, const std::string& name) {
  std::vector<std::string> words = units.command;
  for (std::string word : {std::string("--scope"), std::string("--quiet"), std::string("--collect"),
                           std::string("--no-ask-password"), "--slice=" + std::string(kSlice),
                           "--unit=" + name, std::string("--property=Delegate=yes")})
    words.push_back(std::move(word));
  return words;
}

std::string seconds(Millis time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + "s";
}

}  // namespace

Result<SystemdUnits> find_systemd_units() {
  for (const char* const program : {kSystemdRun, kSystemctl})
    if (access(program, X_OK) != 0)
      return fail(Errc::not_found, std::string(program) + " is not there");
  auto units = manager_of_user();
  if (!units)
    return pass_on(units);
  auto above =
      output_of({kSystemctl, units->command.back(), "show", "--property=ControlGroup", "--value"},
                units->env);
  if (!above)
    return pass_on(above);
  if (*above == "/")
    above->clear();
  const auto slice =
      cgroup_directory("0::" + *above + "/" + kSlice,
                       read_file("/proc/self/mountinfo", kMostMountinfo).value_or(""));
  if (!slice)
    return fail(Errc::not_found, "the cgroups of systemd (version 2) are not mounted here");
  units->slice = *slice;
  auto trial = scope(*units, "baton-trial-" + std::to_string(getpid()) + ".scope");
  trial.insert(trial.end(), {"--", "/bin/true"});
  if (auto made = output_of(trial, units->env); !made)
    return pass_on(made);
  // Below it the shim makes the cgroup of the agent. Without that nothing could end what has left
  // the session of the agent.
  const std::string manager = units->slice.substr(0, units->slice.rfind('/'));
  if (access(manager.c_str(), W_OK | X_OK) != 0)
    return fail(errno == EROFS ? Errc::config : Errc::denied,
                "the cgroups cannot be written; a service needs `ProtectControlGroups=no` in "
                "its unit",
                manager);
  return units;
}

std::string unit_name(const std::string& root, const Key& key, std::uint32_t attempt) {
  std::string name = "baton-" + text(key.flow) + "-" + key.role;
  std::replace(name.begin(), name.end(), '/', '-');
  std::replace_if(
      name.begin(), name.end(),
      [](char letter) {
        return !((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                 (letter >= '0' && letter <= '9') || letter == '.' || letter == '-');
      },
      '_');
  name.resize(std::min(name.size(), kMostOfName));
  const std::string identity = root + '\0' + text(key) + '\0' + std::to_string(attempt);
  return name + "-" + hex(digest_of(identity)).substr(0, kDigestDigits) + ".scope";
}

std::vector<std::string> unit_command(const SystemdUnits& units, const std::string& name,
                                      const Launch& launch) {
  std::vector<std::string> words = scope(units, name);
  words.push_back("--description=baton: " + launch.key.role + " of " + text(launch.key.flow));
  if (launch.memory_max_bytes > 0) {
    words.push_back("--property=MemoryMax=" + std::to_string(launch.memory_max_bytes));
    // With swap, an agent over its limit would only become slow.
    words.emplace_back("--property=MemorySwapMax=0");
  }
  if (launch.tasks_max > 0)
    words.push_back("--property=TasksMax=" + std::to_string(launch.tasks_max));
  if (launch.limits.timeout > Millis(0))
    words.push_back("--property=RuntimeMaxSec=" +
                    seconds((launch.before.empty() ? Millis(0) : launch.before_timeout) +
                            launch.limits.timeout + launch.limits.kill_grace + kAfterShim));
  words.emplace_back("--");
  return words;
}

}  // namespace baton
