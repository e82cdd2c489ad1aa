#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json/json.h"
#include "base/time.h"

namespace baton::agent_run {

/// What becomes of a run whose day has cost too much.
enum class OnCost { warn, pause, fail };

/// What the run was started with (`options` of its run state) and what `baton.yaml` says of all.
struct Settings {
  std::int64_t max_attempts = 2;
  std::int64_t max_iterations = 4;
  bool pause_for_human_input = false;
  std::string workflow_path;               ///< absolute: where its workflow was read
  std::string gate_state_file;             ///< absolute; empty: the one of the run's folder
  std::string logs_dir;                    ///< absolute; empty: the one of the run's folder
  std::map<std::string, std::string> set;  ///< for the environment of every agent
  bool drain = false;                      ///< `on_failure: drain`
  bool strict_reports = false;
  /// A report counts when it has lain there so long, though its agent is still at work; nothing:
  /// only when the agent has ended.
  std::optional<Millis> accept_early;
  std::optional<double> daily_cost_limit;  ///< US dollars per day of UTC
  OnCost on_cost = OnCost::pause;
};

/// `state`: the root of the run state, or nullptr.
Settings settings_of(const Value& options, const Value* state);

}  // namespace baton::agent_run
