#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/time.h"
#include "core/dialect.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/memo.h"
#include "dialects/agent_run/record.h"
#include "dialects/agent_run/workflow.h"

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

/// A view, read once. Lives as long as the view.
struct Scene {
  explicit Scene(const View& given);

  const View& view;
  Places places;
  Memo memo;
  Settings settings;
  const Accepted* state = nullptr;   ///< run_state.json
  std::optional<Workflow> workflow;  ///< as pinned at the start; none for somebody else's run
  RunRecord run;

  const Accepted* document(const std::string& path) const;
  StepRecord& record(const std::string& id) { return run.steps[id]; }
  const StepRecord& record(const std::string& id) const { return run.steps.at(id); }
  /// A live run for the step, whichever start it is of.
  const Run* live(std::string_view id) const;
  const Run* find(const RunId& id) const;
  /// Why nothing can be done with the run at present; empty when all is well.
  std::string trouble() const;
  /// Whether steps that need this one may begin.
  bool done(const std::string& id) const;
  bool needs_done(const Step& step) const;
  bool any_failed() const;
  bool all_done() const;
  std::int64_t max_attempts(const Step& step) const;
};

Role role_of(const Step& step);
/// What the configuration has for a role: its own, that of `default`, or what all have.
template <class T>
T of_role(const std::map<Role, T>& all, const Role& role, const T& otherwise) {
  const auto own = all.find(role);
  const auto found = own == all.end() ? all.find("default") : own;
  return found == all.end() ? otherwise : found->second;
}
/// Whether `human_in_the_loop` asks for a person: true, and the words that are taken for it.
bool wants_person(const Step& step);
/// The gates of a step; `a: b` for one that YAML took for a map.
std::vector<std::string> gates(const Step& step);
/// The gate state, relative to the root; nothing when the one the run was started with lies
/// elsewhere.
std::optional<std::string> gate_file(const Scene& scene);
/// Why the gate state cannot be used, as a clause; it keeps all gates closed. Empty: it can, or
/// there is none and none is needed.
std::string gate_fault(const Scene& scene);
/// Whether a gate is open. Without a gate state all are, unless the run was started with one.
bool gate_open(const Scene& scene, const std::string& gate);

/// The step's loop, if it has one.
const Value* loop_of(const Step& step);
/// Where the items of a step are looked for, relative to the root, in this order; empty when they
/// stand in the workflow.
std::vector<std::string> item_places(const Scene& scene, const Step& step);
/// PENDING, everything it needs is done, and its items are not yet known.
bool wants_items(const Scene& scene, const Step& step);

/// Tells a start of a step from all its others: `i0a2`, iteration and attempt. Where that was in
/// use already, as with the items of a loop, with the number of the execution: `i0a1x3`.
std::string next_label(const StepRecord& record, const StepMemo& memo);
/// The same for a name of a log: `i0__attempt2`.
std::string next_log(const StepRecord& record, const StepMemo& memo);

/// The label a decision is put aside with: that of the start it is about.
std::string decision_label(const Scene& scene, const std::string& id);

/// The file the workflow was read from, relative to the root; nothing when it lies outside.
std::optional<std::string> workflow_source(const Scene& scene);
/// One word for a run state that has no `status`: what its steps say together.
Word summary(const RunRecord& run);

/// The stage words. `work#N` lasts over one start: from where the step may begin to its end, good
/// or bad; N counts its starts.
Stages stages(const View& view);

}  // namespace baton::agent_run
