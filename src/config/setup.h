#pragma once

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

/// How a role is started, ready for use: program found and checked, prompt read, environment
/// filtered.
struct AgentSpec {
  std::vector<std::string> argv;  ///< argv[0] absolute; may hold `${placeholders}` behind it
  std::string prompt;             ///< template; empty: the dialect's own brief
  /// Templates in place of the dialects' own: `coordination/developer` → text.
  std::map<std::string, std::string> prompts;
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

/// What only the living daemon of a root knows. A rehearsal takes its word for it.
struct DaemonState {
  bool lives = false;                ///< there is one
  std::optional<Hold> held;          ///< why it starts nothing at all
  std::map<FlowId, Time> calm_at;    ///< flows its rate breaker holds, and until when
  std::map<FlowId, Hold> unwritten;  ///< flows with a write that waits
  /// Its agents that cannot be started, and why: it runs as another user than who looks, maybe.
  /// Nothing: it does not say.
  std::optional<std::map<Role, std::string>> unusable;
  bool operator==(const DaemonState&) const = default;
};

/// Looks at a role again right before it is started: whether its program is still there, executable
/// and to be trusted, and whether what was wrong with the role is mended.
using RenewAgent = std::function<AgentSpec(const Role& role, const AgentSpec& known)>;

/// A program that bytes go through, started. What came out, any error: it did not end well;
/// nothing: it is still at work, unless its end is to be waited for. Dropped before that, it is
/// ended.
using Filtering = std::function<std::optional<Result<std::string>>(bool wait)>;
/// Starts one (argv).
using Filter =
    std::function<Filtering(const std::vector<std::string>& argv, std::string_view bytes)>;

/// Everything the engine needs to know besides the ports. Replaced as a whole by `reconfigure`.
struct Setup {
  std::vector<std::pair<const Dialect*, Json>> dialects;  ///< and their options
  std::map<Role, AgentSpec> agents;
  AgentSpec action;  ///< environment and folder of dialects' own actions (`Action`)
  RenewAgent renew;  ///< none: the roles stay as they are
  Filter filter;     ///< for backups; none: those that need one are not made
  Environment environment;
  SchemaFetch schemas;  ///< schema files below the configuration
  LoadLimits load;
  RetryLimits retry;
  std::uint32_t max_running = 4;
  std::uint32_t spawns_per_hour = 60;
  double cost_per_hour = 50;
  OnInterrupted on_interrupted = OnInterrupted::hold;
  std::size_t max_existing = 20;  ///< flows that may start something at the first start on a root
  bool act_on_existing = false;
  bool may_start = true;   ///< false: control without a daemon: nothing new is started
  bool rehearsal = false;  ///< decide only: no commit, no start, no write
  /// A schema that cannot be used refuses the files it is for, and not the whole setup.
  bool bear_schemas = false;
  DaemonState said;  ///< for a rehearsal while a daemon lives
  /// Dialects that are configured and cannot be used, and why: they are not among `dialects`.
  std::map<std::string, std::string> left_out;
  std::string unconfigured;  ///< why no dialect is configured at all; empty: that is not so
};

}  // namespace baton
