#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workspace/context.h"

namespace baton {

/// One thing `doctor` looked at.
struct Diagnosis {
  enum class Level { fine, warning, error };
  Level level = Level::fine;
  std::string check;    ///< configuration, agent, limits, root, state, shim, daemon ...
  std::string message;  ///< what was found
  std::string advice;   ///< what to do; empty when all is well
};
using Diagnoses = std::vector<Diagnosis>;

/// What can be checked without a configuration: limits of the system, or of a daemon that runs
/// (`daemon`: its pid, else 0), and the shim.
void examine_system(std::int64_t daemon, Diagnoses& all);
/// Configuration, agents, schemas, notify.
void examine_configuration(const Context& context, Diagnoses& all);
/// Root, state folder, journal, daemon.
void examine_places(const Context& context, Diagnoses& all);
/// What happens in the daemon's environment is what counts: takes its PATH for this process, where
/// that can be read. The daemon's pid; 0 when none runs.
std::int64_t take_daemon_path(const Context& context, Diagnoses& all);

}  // namespace baton
