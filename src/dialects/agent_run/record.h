#pragma once

// The run state as a record: read from run_state.json, changed in memory, written back as the
// smallest set of edits. Unknown members stay untouched.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/agent_run/words.h"

namespace baton::agent_run {

/// One step of run_state.json.
struct StepRecord {
  Status status = Status::pending;
  std::int64_t attempts = 0;
  std::int64_t iterations = 0;
  /// Starts in all iterations. Never reset, so it identifies a start of the step.
  std::int64_t executions = 0;
  std::optional<std::string> report_path;
  std::optional<std::string> started_at;
  std::optional<std::string> ended_at;
  std::optional<std::string> last_error;
  std::optional<std::string> last_error_code;
  std::optional<std::string> last_gate_failure;
  std::optional<std::string> manual_input_path;
  std::optional<std::string> blocked_by_loop;
  Json artifacts = Json::array();
  Json metrics = Json::object();
  Json logs = Json::array();
  Json memory_updates;  ///< null: none
  std::int64_t loop_index = 0;
  Json loop_items;  ///< null: not read yet, or the step has no loop
  bool loop_completed = false;

  /// Back to PENDING for a new iteration. The counters and last_gate_failure stay.
  void reset();
  /// Forgets the items of the loop and the artifacts they made.
  void restart_loop();
  bool done() const { return row().done; }
  const StatusRow& row() const { return kStatus.at(static_cast<std::size_t>(status)); }
};

StepRecord step_record(const Value& step);
Json json_of(const StepRecord& step);

/// State of the whole run; `status` in run_state.json.
enum class RunStatus { running, waiting, completed, failed, cancelled, paused };
std::string_view word(RunStatus status);

/// The state of a run, to be changed in memory.
struct RunRecord {
  RunStatus status = RunStatus::running;
  std::map<std::string, StepRecord, std::less<>> steps;
};
RunRecord run_record(const Value& root);

/// The value as text, indented for the given depth in the file.
std::string indented(const Json& value, std::size_t depth);

/// The edits that make the document match the record, with updated_at. Empty when it matches
/// already.
std::vector<json::Edit> edits(const Value& root, const RunRecord& record,
                              const std::string& updated_at);

/// Whether the members that baton owns are the same in two versions of a run state.
bool same_record(const Value& before, const Value& after);

}  // namespace baton::agent_run
