#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/ports.h"

namespace baton {

/// How a role is started, ready for use: program found and checked, prompt read, environment
/// filtered.
struct AgentSpec {
  std::vector<std::string> argv;  ///< argv[0] absolute; may hold `${placeholders}` behind it
  std::string prompt;             ///< template; empty: the dialect's own brief
  std::string cwd;  ///< absolute; may hold placeholders; empty: the brief's, else the root
  /// Run before the agent, as argv; empty: nothing.
  std::vector<std::string> before;
  Millis before_timeout{0};
  std::vector<std::pair<std::string, std::string>> env;  ///< the allow-list's values
  RunLimits limits;
  RetryLimits retry;
  std::string problem;  ///< not empty: the role cannot be started, and why
  bool operator==(const AgentSpec&) const = default;
};

/// The names that may stand in `${...}` everywhere; a dialect's brief may add more.
const std::vector<std::string>& placeholder_names();

/// Puts together what one start needs. Errc::denied when a value from a file would become an option
/// (begins with `-` where the argument begins with it), would lead the working directory out of
/// where the configuration has it (`..`), or cannot be passed at all (a NUL in it).
Result<Launch> launch_of(const Start& start, const AgentSpec& spec, const Brief& brief,
                         const Environment& environment);

}  // namespace baton
