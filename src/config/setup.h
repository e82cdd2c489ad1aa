#pragma once

// Everything that the engine needs besides the ports: the dialects in use, the agents ready to
// start, filters and schemas. The workspace makes it from the configuration.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/schema/schema.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/reconcile.h"

namespace baton {

/// A role that is ready to start: program found and checked, prompt read, environment filtered.
struct AgentSpec {
  std::vector<std::string> argv;  ///< argv[0] is absolute; the rest may contain `${placeholders}`
  std::string prompt;             ///< template; empty: the dialect's own brief
  /// Overridden templates of the dialects: `coordination/developer` → text.
  std::map<std::string, std::string> prompts;
  std::string cwd;  ///< absolute; may contain placeholders; empty: from the brief, else the root
  /// argv of a program to run before the agent; empty: none.
  std::vector<std::string> before;
  Millis before_timeout{0};
  std::vector<std::pair<std::string, std::string>> env;  ///< the values of the allow-list
  RunLimits limits;
  RetryLimits retry;
  std::string problem;  ///< why the role cannot be started; empty: it can
  bool operator==(const AgentSpec&) const = default;
};

/// What only the living daemon of a root knows, for a rehearsal in another process.
struct DaemonState {
  bool lives = false;                ///< a daemon lives
  std::optional<Hold> held;          ///< why it starts nothing at all
  std::map<FlowId, Time> calm_at;    ///< flows that its rate breaker holds, and until when
  std::map<FlowId, Hold> unwritten;  ///< flows with a pending write
  /// Roles that the daemon cannot start, and why; it may run as another user. Nothing: unknown.
  std::optional<std::map<Role, std::string>> unusable;
  bool operator==(const DaemonState&) const = default;
};

/// Checks a role again right before its start: whether its program still exists and is safe, or its
/// problem was solved.
using RenewAgent = std::function<AgentSpec(const Role& role, const AgentSpec& known)>;

/// A running filter program. Returns its output or an error when it has ended, and nothing while it
/// runs; with `wait` it waits for the end. When it is destroyed, the program is ended.
using Filtering = std::function<std::optional<Result<std::string>>(bool wait)>;
/// Starts a filter program (argv).
using Filter =
    std::function<Filtering(const std::vector<std::string>& argv, std::string_view bytes)>;

/// `reconfigure` replaces it as a whole.
struct Setup {
  std::vector<std::pair<const Dialect*, Json>> dialects;  ///< with their options
  std::map<Role, AgentSpec> agents;
  AgentSpec action;  ///< environment and folder for `Action`s of dialects
  RenewAgent renew;  ///< may be empty: roles are not checked again
  Filter filter;     ///< for backups; empty: backups that need a filter are not made
  Environment environment;
  SchemaFetch schemas;  ///< schema files below the configuration
  LoadLimits load;
  RetryLimits retry;
  std::uint32_t max_running = 4;
  std::uint32_t spawns_per_hour = 60;
  double cost_per_hour = 50;
  OnInterrupted on_interrupted = OnInterrupted::hold;
  /// at the first start on a root, at most this many existing flows may start something
  std::size_t max_existing = 20;
  bool act_on_existing = false;
  bool may_start = true;   ///< false for control without a daemon: nothing new is started
  bool rehearsal = false;  ///< only decide: no commit, no start, no write
  /// A schema that cannot be used makes baton refuse its files, not the whole setup.
  bool tolerate_bad_schemas = false;
  DaemonState said;  ///< for a rehearsal while a daemon lives
  /// Configured dialects that cannot be used, and why; they are not in `dialects`.
  std::map<std::string, std::string> left_out;
  std::string unconfigured;  ///< why no dialect is configured at all; empty if one is
};

}  // namespace baton
