#pragma once

// What `baton doctor` checks. Each check adds diagnoses; nothing is changed.

#include <cstdint>
#include <string>
#include <vector>

#include "workspace/context.h"

namespace baton {

/// The result of one check.
struct Diagnosis {
  enum class Level { fine, warning, error };
  Level level = Level::fine;
  std::string check;    ///< configuration, agent, limits, root, state, shim, daemon ...
  std::string message;  ///< what was found
  std::string advice;   ///< what to do; empty when nothing
};
using Diagnoses = std::vector<Diagnosis>;

/// Checks that need no configuration: system limits (those of the daemon with pid `daemon`, unless
/// 0) and the shim.
void examine_system(std::int64_t daemon, Diagnoses& all);
/// Checks configuration, agents, schemas, notify.
void examine_configuration(const Context& context, Diagnoses& all);
/// Checks roots, state folders, journals, daemons.
void examine_places(const Context& context, Diagnoses& all);
/// Uses the PATH of the daemon for this process, if it can be read, because the daemon starts the
/// agents. Returns the pid of the daemon; 0 when none runs.
std::int64_t take_daemon_path(const Context& context, Diagnoses& all);

}  // namespace baton
