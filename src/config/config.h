#pragma once

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
#include "core/flow.h"
#include "core/reconcile.h"

namespace baton {

/// How a role is started, as `baton.yaml` says. What is not set is the matter of `limits:`.
struct AgentConfig {
  std::vector<std::string> command;  ///< argv, may hold `${placeholders}`
  std::string prompt;  ///< path of a template; relative to the configuration; empty: the dialect's
  std::string cwd;     ///< relative to the configuration; empty: the root
  /// `before`: argv of what has to succeed before the agent is entered; empty: nothing.
  std::vector<std::string> before;
  Millis before_timeout{300'000};
  std::optional<Millis> timeout;
  std::optional<Millis> idle_timeout;
  std::optional<Millis> kill_grace;
  std::optional<std::uint64_t> log_cap_bytes;
  std::optional<std::uint32_t> max_attempts;
  std::optional<Millis> backoff;
  std::optional<Millis> max_backoff;
  std::vector<std::string> env_allow;          ///< names passed on from the daemon's environment
  std::map<std::string, std::string> env_set;  ///< given as they are
  bool may_decide = false;  ///< its runs may answer for a person: approve, reject, ...
  bool operator==(const AgentConfig&) const = default;
};

/// `limits:`.
struct LimitsConfig {
  std::uint32_t max_running = 4;       ///< agents at a time, per daemon
  std::uint32_t spawns_per_hour = 60;  ///< per flow
  double cost_per_hour = 50;           ///< US dollars, per flow
  RunLimits run;
  RetryLimits retry;
  bool operator==(const LimitsConfig&) const = default;
};

/// `retention:`. Zero keeps for ever.
struct RetentionConfig {
  Millis events = std::chrono::hours(30 * 24);
  Millis runs = std::chrono::hours(30 * 24);
  Millis replaced = std::chrono::hours(30 * 24);
  std::uint64_t max_runs = 1000;
  bool operator==(const RetentionConfig&) const = default;
};

/// What a `baton.yaml` says, with the defaults filled in (docs/configuration.md). Paths are as
/// written.
struct Config {
  std::map<Role, AgentConfig> agents;
  LimitsConfig limits;
  OnInterrupted on_interrupted = OnInterrupted::hold;
  /// Name and options of each dialect, in the order of the file. Options are as written, but for
  /// those of `rules`, which comes last when there are any: `{"rules": [...]}`, where `files`,
  /// `from`, `to` and `next` are arrays; a map in `files` is `documents: [{name, path, schema,
  /// optional}]` instead; `when`, `approval`, `set` and `values` are as written, `prompt` is a
  /// path; `max_entries`, `breaker: {changes, per_ms}` and `limits` are always there, and limits
  /// are `max_running`, `spawns_per_hour`, `retry: {max_attempts, backoff_ms, max_backoff_ms}` and
  /// `run: {timeout_ms, idle_timeout_ms, kill_grace_ms, log_cap_bytes}`, each where the rule has
  /// it.
  std::vector<std::pair<std::string, Json>> dialects;
  std::vector<std::string> notify;  ///< argv; empty: none
  Millis notify_timeout{30'000};
  std::vector<std::string>
      roots;              ///< relative to the configuration; empty: the one root of the command
  std::string state_dir;  ///< empty: looked for
  RetentionConfig retention;
  bool operator==(const Config&) const = default;
};

/// A configuration, and what one should know about it.
struct ParsedConfig {
  Config config;
  Findings warnings;
};

/// Reads and checks the text of a `baton.yaml`. Every fault comes with its place and, for an
/// unknown key, the one that was probably meant; rules are `json`, `schema/<keyword>` and
/// `config/<word>`.
tl::expected<ParsedConfig, Findings> parse_config(std::string text, Format format = Format::yaml);

/// A configuration that can be used, as JSON in which every value below `env: set:` is empty. Its
/// comments are left out, too: both may hold secrets. Errc::config: such a value also stands
/// elsewhere by a YAML alias, or the text cannot be read.
Result<Json> without_secrets(std::string text);

/// `path:line:column: message; did you mean 'x'?` of one finding.
std::string describe(const Finding& finding, std::string_view path);

/// The agent that plays a role: the one of that name, else `default`, else nullptr.
const AgentConfig* agent_for(const Config& config, const Role& role);
/// The limits of a role: its own, else those of `limits:`.
RunLimits run_limits(const Config& config, const AgentConfig& agent);
RetryLimits retry_limits(const Config& config, const AgentConfig& agent);

}  // namespace baton
