// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `baton run` hands to the daemon, and the function that runs it. The command finds and checks
// the configuration; the daemon only calls back to read it again.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "daemon/once.h"
#include "engine/engine.h"
#include "io/journal/prune.h"

namespace baton {

/// One root to be served, ready for use.
struct ServedRoot {
  std::string root;  ///< real path
  std::string state_folder;
  std::string configuration;  ///< real path; "" if there is none
  std::string configuration_text;
  Setup setup;
};

/// A root of the configuration that does not exist yet, or cannot be served yet.
struct AwaitedRoot {
  std::string path;
  std::function<Result<ServedRoot>()> look;  ///< Errc::not_found until the root exists
};

/// The configuration of a daemon, read at its start and again at each reload.
struct ServiceConfig {
  std::vector<ServedRoot> roots;
  std::vector<AwaitedRoot> awaited;
  std::vector<std::string> notify;      ///< argv; argv[0] is absolute; empty: no command
  std::vector<std::string> notify_env;  ///< NAME=value
  Millis notify_timeout{0};
  MetricsConfig metrics;  ///< the path is absolute
  Retention retention;
  std::string shim;                  ///< absolute path of baton-shim
  std::vector<std::string> remarks;  ///< logged at start: missing programs, warnings
};

struct ServiceOptions {
  std::optional<OnceWish> once;  ///< end when nothing runs and nothing starts any more
  /// Reads the configuration again, for SIGHUP and `baton reload`.
  std::function<Result<ServiceConfig>()> load;
  /// Fails (Errc::served) when another daemon serves a root that lies inside this one or around it.
  std::function<Result<void>(const std::string& root)> apart;
};

/// Serves all roots until a signal or a drain ends it. Returns the exit status (docs/status.md):
/// 0 at a good end, 1 with `once` and work undone, 2 for a wrong configuration, 3 when something
/// needed is not available, 75 when another daemon serves a root, 130 after Ctrl-C.
int serve(ServiceConfig config, const ServiceOptions& options);

}  // namespace baton
