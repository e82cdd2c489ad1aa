// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one decision looks at: the documents, memory, settings and runs of one workflow run, read
// once. Also answers questions about its steps, gates and loops.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/time.h"
#include "core/dialect.h"
#include "core/flow.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/record.h"
#include "dialects/agent_run/workflow.h"

namespace baton::agent_run {

// What baton remembers of a run besides its run state. The journal keeps it, so that a restarted
// daemon continues where the last decision stopped.

/// Memory of one step.
struct StepMemo {
  RunId run;                        ///< the start that the run state is about; empty: none
  std::string label;                ///< the label of that start, see next_label
  std::vector<std::string> labels;  ///< labels already used, without their `x` part
  std::int64_t failed_ms = 0;       ///< on baton's clock: when the last attempt failed
  std::string gate;                 ///< why a gate failed; the next decision sends the work back
  std::int64_t gate_ms = 0;         ///< when the failed gate was seen
  std::string reason;          ///< why the work came back to this step; its agent gets the text
  RunId early;                 ///< a start whose report was accepted while its agent still ran
  std::int64_t report_ms = 0;  ///< when the report of a running start was first seen
  /// When the end of the start was first seen; 0: it has not ended.
  std::int64_t ended_ms = 0;
  bool cancelled = false;  ///< SKIPPED because a person stopped the run; `baton resume` undoes it
  bool operator==(const StepMemo&) const = default;
};

/// Memory of a run.
struct Memo {
  bool driven = false;  ///< false: another program drives the run, and baton only shows it
  std::map<std::string, StepMemo, std::less<>> steps;
  /// Requests already answered. One decision takes several rounds, and later rounds see them again.
  std::vector<std::string> answered;
  std::string cost_day;  ///< `2026-01-22`, UTC
  double cost_usd = 0;   ///< sum of `cost_usd` in the reports of that day
  bool operator==(const Memo&) const = default;
};

Memo memo_of(const Json& json);
Json json_of(Memo memo);

/// What happens when the daily cost limit is reached.
enum class OnCost { warn, pause, fail };

/// The settings of a run: `options` of its run state, and the dialect's options in baton.yaml.
struct Settings {
  std::int64_t max_attempts = 2;
  std::int64_t max_iterations = 4;
  bool pause_for_human_input = false;
  std::string workflow_path;               ///< absolute path of the workflow file
  std::string gate_state_file;             ///< absolute; empty: the file in the folder of the run
  std::string logs_dir;                    ///< absolute; empty: `logs` in the folder of the run
  std::map<std::string, std::string> set;  ///< for the environment of every agent
  bool drain = false;                      ///< `on_failure: drain`
  bool strict_reports = false;
  /// How long the report of a running agent must exist before baton accepts it. Empty: baton waits
  /// until the agent has ended.
  std::optional<Millis> accept_early;
  std::optional<double> daily_cost_limit;  ///< US dollars per UTC day
  OnCost on_cost = OnCost::pause;
};

/// `state` is the root of the run state, or nullptr.
Settings settings_of(const Value& options, const Value* state);

/// A view, read once. It must not outlive the view.
struct Snapshot {
  explicit Snapshot(const View& given);

  const View& view;
  RunPaths paths;
  Memo memo;
  Settings settings;
  const Accepted* state = nullptr;   ///< run_state.json
  std::optional<Workflow> workflow;  ///< the run's own copy; none for a run of another program
  RunRecord run;

  const Accepted* document(const std::string& path) const;
  StepRecord& record(const std::string& id) { return run.steps[id]; }
  const StepRecord& record(const std::string& id) const { return run.steps.at(id); }
  /// The memory of a step; for most steps it is empty.
  const StepMemo& step_memo(std::string_view id) const;
  /// A live run of the step, from any start.
  const Run* live(std::string_view id) const;
  const Run* find(const RunId& id) const;
  /// Why the run cannot continue at all. Empty if it can.
  std::optional<Standing> trouble() const;
  /// Whether steps that need this one may begin.
  bool done(const std::string& id) const;
  bool needs_done(const Step& step) const;
  bool any_failed() const;
  bool all_done() const;
  std::int64_t max_attempts(const Step& step) const;

 private:
  /// Plans the items of parallel loops as steps, once they are read.
  void add_items();
};

Role role_of(const Step& step);
/// Whether `human_in_the_loop` is true, or a word that means true.
bool needs_person(const Step& step);
/// The gates of a step. A gate that YAML read as a map becomes `a: b`.
std::vector<std::string> gates(const Step& step);
/// The path of the gate state, relative to the root. Empty if the configured file is outside the
/// root.
std::optional<std::string> gate_file(const Snapshot& snapshot);
/// Why the gate state cannot be used, as a clause. Then all gates are closed. Empty if it can be
/// used, or if the run needs none.
std::string gate_fault(const Snapshot& snapshot);
/// Whether a gate is open. Without a gate state all gates are open, unless the run was started with
/// a gate state file.
bool gate_open(const Snapshot& snapshot, const std::string& gate);

/// The step's loop, if it has one. An item of a parallel loop has none.
const Value* loop_of(const Step& step);
/// The most items of a parallel loop.
inline constexpr std::size_t kMostParallelItems = 1000;
/// How many items of the step's loop may be at work at the same time; 1: one after the other.
std::size_t parallel(const Step& step);
/// Whether the step has a loop whose items are planned as steps of their own.
bool is_parallel(const Step& step);
/// The number of items that the loop goes through. The items must have been read.
std::size_t item_count(const Step& step, const StepRecord& record);
/// The items of a parallel loop that is under way or has failed.
std::vector<const Step*> items_of(const Snapshot& snapshot, const Step& step);

/// The files that may have the items of a step, relative to the root, in order. Empty if they are
/// not in a file of the repository.
std::vector<std::string> item_files(const Snapshot& snapshot, const Step& step);
/// Whether the step is PENDING, its needs are done, and its items are not read yet.
bool wants_items(const Snapshot& snapshot, const Step& step);

/// A label that is unique among the starts of a step: `i0a2` for iteration and attempt. If another
/// start has this label (items of a loop), it ends in the number of the execution: `i0a1x3`.
std::string next_label(const StepRecord& record, const StepMemo& memo);
/// The same as a part of a log name: `i0__attempt2`.
std::string next_log(const StepRecord& record, const StepMemo& memo);

/// The label for archiving a decision: the label of the start that the decision is about.
std::string decision_label(const Snapshot& snapshot, const std::string& id);

/// The path of the workflow file, relative to the root. Empty if the file is outside the root.
std::optional<std::string> workflow_source(const Snapshot& snapshot);
/// The status of a run as its steps show it, for a run state without `status`.
Word summary(const RunRecord& run);

/// The stage of each step. `work#N` lasts from the moment the step may begin to the end of that
/// start. N counts the starts.
Stages stages(const View& view);

}  // namespace baton::agent_run
