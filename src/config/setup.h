// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that the engine needs besides the ports: dialects in use, agents that are ready to
// start, filters, schemas and limits.
// The workspace makes it from the configuration. A reload makes a new one, and the engine replaces
// the old one as a whole.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/schema/schema.h"
#include "core/caps.h"
#include "core/dialect.h"
#include "core/effect.h"
#include "core/hours.h"
#include "core/reconcile.h"

namespace baton {

/// A role that is ready to start: program found and checked, prompt read, environment filtered.
struct AgentSpec {
  std::shared_ptr<const Adapter> adapter;  ///< never nullptr for an agent that can start
  std::string model;                       ///< empty: the program's own choice
  std::string provider;                    ///< whose limits it meets
  std::string account;                     ///< see ProviderAccount
  /// By the wall clock: the last change of a login file or of the configuration. A login that was
  /// refused before is tried again.
  Time login_changed{};
  bool resume = true;  ///< see AgentConfig
  OnNoChange on_no_change = OnNoChange::hold;
  std::vector<Role> fallback;     ///< agents that stand in while it cannot start, in order
  std::vector<std::string> argv;  ///< argv[0] is absolute; the rest may contain `${placeholders}`
  std::string prompt;             ///< template; empty: the dialect's own brief
  /// Overridden templates of the dialects: `coordination/developer` → text.
  std::map<std::string, std::string> prompts;
  std::string cwd;  ///< absolute; may contain placeholders; empty: from the brief, else the root
  /// argv of a program to run before the agent; empty: none.
  std::vector<std::string> before;
  Millis before_timeout{0};
  std::vector<std::pair<std::string, std::string>> env;  ///< allowed and set variables
  RunLimits limits;
  std::optional<ProgramUser> user;     ///< nothing: the user of the daemon
  std::uint64_t memory_max_bytes = 0;  ///< see AgentConfig
  std::uint32_t tasks_max = 0;
  RetryLimits retry;
  std::uint32_t max_transient = 10;   ///< runs in a row that the provider may fail for the moment
  std::vector<Word> may;              ///< see AgentConfig
  Role configured_as;                 ///< the key of `agents:`; "": that of the role
  std::optional<AgentFault> problem;  ///< nothing: the role can be started
  bool operator==(const AgentSpec&) const = default;
};

/// What only the running daemon of a root knows. A rehearsal in another process needs it to show
/// what the daemon would do.
struct DaemonState {
  bool lives = false;                ///< a daemon runs
  std::optional<Hold> held;          ///< why the daemon starts nothing at all
  std::map<FlowId, Time> calm_at;    ///< flows that the rate breaker holds, and until when
  std::map<FlowId, Hold> unwritten;  ///< flows with a pending write
  /// Roles that the daemon cannot start. They may differ from ours, because the daemon may
  /// run as another user. Nothing: unknown.
  std::optional<std::map<Role, AgentFault>> unusable;
  bool operator==(const DaemonState&) const = default;
};

/// Checks a role again right before its start. Its program may be gone or unsafe by now, or its
/// problem may be solved.
using RenewAgent = std::function<AgentSpec(const Role& role, const AgentSpec& known)>;

/// A running filter program. Returns its output or an error once it has ended, and nothing while it
/// runs; with `wait` it waits for the end. Destroying it ends the program.
using Filtering = std::function<std::optional<Result<std::string>>(bool wait)>;
/// Starts a filter program (argv).
using Filter =
    std::function<Filtering(const std::vector<std::string>& argv, std::string_view bytes)>;

/// How many bytes the accepted versions of files may have together. 0: no limit.
struct SizeLimits {
  std::uint64_t flow_bytes = 0;  ///< of one flow
  std::uint64_t root_bytes = 0;  ///< of all flows of a root; small files do not need room in it
  bool operator==(const SizeLimits&) const = default;
};

/// The configuration in force, in the form the engine uses. `Engine::reconfigure` replaces it.
struct Setup {
  std::vector<std::pair<const Dialect*, Json>> dialects;  ///< with their options
  std::map<Role, AgentSpec> agents;
  AgentSpec action;  ///< environment and folder for `Action`s of dialects
  /// Absolute folders outside the root whose files dialects may read (`library`).
  std::vector<std::string> libraries;
  RenewAgent renew;  ///< may be empty: roles are not checked again
  Filter filter;     ///< for backups; empty: backups that need a filter are not made
  Environment environment;
  SchemaFetch schemas;  ///< schema files below the configuration
  LoadLimits load;
  RetryLimits retry;
  std::uint32_t max_running = 4;
  std::uint32_t spawns_per_hour = 60;
  double cost_per_hour = 50;  ///< 0, here and below: no limit
  std::int64_t tokens_per_hour = 0;
  std::uint32_t shell_per_hour = 0;
  /// Events of changed files that the history keeps of one flow; see HistoryLimit.
  std::uint32_t events_per_hour = 0;
  SizeLimits sizes;
  std::map<std::string, FlowCaps> rule_caps;  ///< of each flow, where a rule has its own
  CapTable caps;                              ///< of more than one flow
  AllHours hours;
  bool systemd_units = false;  ///< runs are transient units of systemd
  std::string configuration;   ///< real path of its file; sums are counted for each configuration
  OnInterrupted on_interrupted = OnInterrupted::hold;
  /// At the first start on a root, at most this many existing flows may start something.
  std::size_t max_existing = 20;
  bool act_on_existing = false;
  /// Versions that git put back count like all others (`vcs: act`).
  bool act_on_reverted = false;
  bool may_start = true;   ///< false for control without a daemon: nothing new is started
  bool rehearsal = false;  ///< only decide: no commit, no start, no write
  /// true: if a schema cannot be used, baton rejects the files with that schema instead of the
  /// whole setup.
  bool tolerate_bad_schemas = false;
  DaemonState daemon_state;  ///< for a rehearsal while a daemon runs
  /// Configured dialects that cannot be used, and why; they are not in `dialects`.
  std::map<std::string, std::string> left_out;
  std::string unconfigured;  ///< why no dialect is configured at all; empty if one is
};

}  // namespace baton
