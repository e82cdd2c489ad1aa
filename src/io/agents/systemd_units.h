// SPDX-License-Identifier: Apache-2.0
#pragma once

// `backend: { type: systemd }`: each run is a transient unit of systemd, a scope. The limits of its
// memory and its processes hold without a delegated cgroup, `systemctl status` and `systemd-cgls`
// show it, and its name is a second lock: systemd makes no second unit of the same name, whatever a
// journal says. The shim stays between the daemon and the agent, and a run stays a child of the
// daemon, so a unit changes nothing about adoption and ends.
//
// systemd-run(1) makes the unit of its own process and then enters the shim in it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/flow.h"
#include "core/ports.h"

namespace baton {

/// The manager that makes the units: that of the system for root, else that of the user.
struct SystemdUnits {
  std::vector<std::string> command;  ///< systemd-run and the option for the manager
  std::vector<std::string> env;      ///< how it finds the manager
  std::string slice;                 ///< absolute cgroup directory of the slice for all units
};

/// Makes a unit as a trial, and waits for it at most five seconds. Errc::not_found: no systemd, or
/// no manager for this user. Errc::config, denied: its cgroups cannot be written. Errc::io: it
/// makes no unit; the message says why.
Result<SystemdUnits> find_systemd_units();

/// `baton-FLOW-ROLE-DIGEST.scope`: one name for each attempt of a key on a root, and only of
/// letters that unit names may have.
std::string unit_name(const std::string& root, const Key& key, std::uint32_t attempt);

/// The words before the command of the shim. The time limit of the unit is one that the shim
/// enforces before; it counts only if the shim cannot.
std::vector<std::string> unit_command(const SystemdUnits& units, const std::string& name,
                                      const Launch& launch);

}  // namespace baton
