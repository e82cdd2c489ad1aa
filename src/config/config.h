// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and checks `baton.yaml` (docs/configuration.md, schemas/config.schema.json). Reports every
// fault with its line and column.
// It reads no other file and looks for no program. The workspace does that and fills
// config/setup.h.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "core/caps.h"
#include "core/flow.h"
#include "core/hours.h"
#include "core/reconcile.h"

namespace baton {

/// How to start a role. What is not set here comes from `limits:`.
struct AgentConfig {
  std::vector<std::string> command;  ///< argv; may contain `${placeholders}`; empty with `adapter`
  /// Name of an adapter of baton, or the path of a file, relative to the configuration, with a `/`.
  std::string adapter;
  std::string model;
  std::vector<std::string> args;  ///< for the adapter's program; may contain `${placeholders}`
  std::vector<Role> fallback;
  std::string provider;  ///< empty: see AgentSpec::provider
  bool resume = true;    ///< a repeated start continues the session of the one before
  OnNoChange on_no_change = OnNoChange::hold;
  Json result;         ///< the object `result:`, or null
  std::string prompt;  ///< path of a template, relative to the configuration; empty: the dialect's
  std::string cwd;     ///< relative to the configuration; empty: the root
  /// argv of a program that must succeed before the agent starts; empty: none.
  std::vector<std::string> before;
  Millis before_timeout{300'000};
  std::string user;  ///< name of the user as whom the program runs; empty: the daemon's
  std::optional<Millis> timeout;
  std::optional<Millis> idle_timeout;
  std::optional<Millis> kill_grace;
  std::optional<std::uint64_t> log_cap_bytes;
  /// The most memory of one run, with all its processes and without swap; 0: no limit.
  std::uint64_t memory_max_bytes = 0;
  std::uint32_t tasks_max = 0;  ///< the most processes and threads of one run; 0: no limit
  std::optional<std::uint32_t> max_attempts;
  std::optional<std::uint32_t> max_transient;
  std::optional<Millis> backoff;
  std::optional<Millis> max_backoff;
  std::vector<std::string> env_allow;  ///< variables to pass on from the daemon's environment
  std::map<std::string, std::string> env_set;  ///< variables to set
  /// Verbs that its runs may use besides those that every agent may (engine/decide/asker.h).
  std::vector<Word> may;
  bool operator==(const AgentConfig&) const = default;
};

/// `limits:`.
struct LimitsConfig {
  std::uint32_t max_running = 4;         ///< agents at the same time, per daemon
  std::uint32_t spawns_per_hour = 60;    ///< per flow
  double cost_per_hour = 50;             ///< US dollars, per flow; 0, here and below: no limit
  std::int64_t tokens_per_hour = 0;      ///< per flow
  std::uint32_t shell_per_hour = 3600;   ///< shell actions, per flow
  std::uint32_t events_per_hour = 1000;  ///< see Setup
  std::uint64_t max_flow_size_bytes = 32U << 20U;   ///< see SizeLimits
  std::uint64_t max_root_size_bytes = 512U << 20U;  ///< see SizeLimits
  std::uint64_t max_file_bytes = 16U << 20U;        ///< see LoadLimits
  RunLimits run;
  RetryLimits retry;
  std::uint32_t max_transient = 10;  ///< see AgentSpec
  bool operator==(const LimitsConfig&) const = default;
};

/// `retention:`. Zero means for ever.
struct RetentionConfig {
  Millis events = std::chrono::hours(30 * 24);
  Millis runs = std::chrono::hours(30 * 24);
  Millis replaced = std::chrono::hours(30 * 24);
  std::uint64_t max_runs = 1000;
  bool operator==(const RetentionConfig&) const = default;
};

/// `metrics:`.
struct MetricsConfig {
  std::string textfile;  ///< absolute once the workspace has it; empty: no metrics
  Millis interval{15'000};
  bool operator==(const MetricsConfig&) const = default;
};

/// The content of `baton.yaml` with defaults filled in. Paths are as written.
struct Config {
  std::map<Role, AgentConfig> agents;
  LimitsConfig limits;
  /// The caps of more than one flow, wherever they stand: `limits:`, agents, providers, dialects,
  /// rules. With the defaults.
  CapTable caps = {{CapPlace{}, default_caps(60)}};
  std::map<std::string, FlowCaps> rule_caps;  ///< of each flow of a rule that has its own
  AllHours hours;                             ///< when agents start: everything, agents, rules
  OnInterrupted on_interrupted = OnInterrupted::hold;
  bool act_on_reverted = false;  ///< `vcs: act`
  /// The name and options of each dialect, in the order of the file. Options are as written, except
  /// those of `rules`, which comes last: `{"rules": [...]}`. `limits` is not in them: see `caps`.
  ///
  /// In a rule, `files`, `from`, `to`, `next`, `stages` and `done` are arrays. A map in `files`
  /// becomes `documents:
  /// [{name, path, schema, optional}]`. `when`, `approval`, `set` and `values` are as written;
  /// `prompt` is a path. `max_entries`, `breaker: {changes, per_ms}` and `limits` are always
  /// present.
  ///
  /// `limits` has `max_running`, `spawns_per_hour`, `retry: {max_attempts, backoff_ms,
  /// max_backoff_ms}` and `run: {timeout_ms, idle_timeout_ms, kill_grace_ms, log_cap_bytes}`, each
  /// only if the rule sets it.
  std::vector<std::pair<std::string, Json>> dialects;
  bool systemd_units = false;       ///< `backend: { type: systemd }`: runs are transient units
  std::vector<std::string> notify;  ///< argv; empty: none
  Millis notify_timeout{30'000};
  MetricsConfig metrics;
  /// relative to the configuration; empty: the root of the command
  std::vector<std::string> roots;
  std::string state_dir;  ///< empty: one of the usual places
  RetentionConfig retention;
  bool operator==(const Config&) const = default;
};

/// A configuration and its warnings.
struct ParsedConfig {
  Config config;
  Findings warnings;
};

/// Checks the text of a `baton.yaml`. Every fault has its place and, for an unknown key, a
/// suggestion. The rules are `json`, `schema/<keyword>` and `config/<word>`.
/// `zones`: with them an unknown time zone is a fault.
tl::expected<ParsedConfig, Findings> parse_config(std::string text, Format format = Format::yaml,
                                                  const TimeZones* zones = nullptr);

/// The configuration as JSON in which every value below `env: set:` is empty. It has no comments,
/// because they may hold secrets as well.
/// Errc::config: such a value also stands elsewhere by a YAML alias, or the text cannot be read.
Result<Json> without_secrets(std::string text);

/// `path:line:column: message; did you mean 'x'?` of one finding.
std::string describe(const Finding& finding, std::string_view path);

/// The agent for a role: the one with that name, else `default`, else nullptr.
const AgentConfig* agent_for(const Config& config, const Role& role);
/// The limits of a role: its own, else those of `limits:`.
RunLimits run_limits(const Config& config, const AgentConfig& agent);
RetryLimits retry_limits(const Config& config, const AgentConfig& agent);
/// How large a document may be: `limits: max_file`.
LoadLimits load_limits(const Config& config);

}  // namespace baton
