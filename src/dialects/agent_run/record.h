// SPDX-License-Identifier: Apache-2.0
#pragma once

// The run state as a record: read from run_state.json, changed in memory, and written back as the
// smallest set of edits. Members that baton does not know stay as they are.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/tables.h"

namespace baton::agent_run {

// The words of the files as enumerations and tables.

/// State of a step in run_state.json.
enum class Status { pending, running, waiting_on_human, completed, failed, skipped };
struct StatusRow {
  std::string_view word;
  Status status;
  bool began;  ///< the step was started at least once
  bool done;   ///< steps that need it may start
  std::string_view stage;
};
inline constexpr std::array kStatus = {
    StatusRow{"PENDING", Status::pending, false, false, "pending"},
    StatusRow{"RUNNING", Status::running, true, false, "running"},
    StatusRow{"WAITING_ON_HUMAN", Status::waiting_on_human, true, false, "waiting_on_human"},
    StatusRow{"COMPLETED", Status::completed, true, true, "completed"},
    StatusRow{"FAILED", Status::failed, true, false, "failed"},
    StatusRow{"SKIPPED", Status::skipped, false, true, "skipped"},
};
static_assert(in_enum_order(kStatus, &StatusRow::status, Status::skipped));
constexpr const auto& word_table(Status /*status*/) {
  return kStatus;
}

/// The status words of reports, in upper case. Agents use many words for two results.
struct ReportRow {
  std::string_view word;
  bool completed;
};
inline constexpr std::array kReport = {
    ReportRow{"COMPLETED", true}, ReportRow{"SUCCESS", true}, ReportRow{"OK", true},
    ReportRow{"DONE", true},      ReportRow{"PASSED", true},  ReportRow{"FAILED", false},
    ReportRow{"FAIL", false},     ReportRow{"ERROR", false},  ReportRow{"CANCELLED", false},
};

/// The words of a manual input, in upper case, for `status` and for `decision`.
struct DecisionRow {
  std::string_view word;
  bool approved;
};
inline constexpr std::array kDecision = {
    DecisionRow{"APPROVE", true},   DecisionRow{"REJECT", false},   DecisionRow{"PASSED", true},
    DecisionRow{"APPROVED", true},  DecisionRow{"COMPLETED", true}, DecisionRow{"FAILED", false},
    DecisionRow{"REJECTED", false},
};

/// One step of run_state.json.
struct StepRecord {
  Status status = Status::pending;
  std::int64_t attempts = 0;
  std::int64_t iterations = 0;
  /// Starts in all iterations. baton never resets it, so the number identifies a start of the step.
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

  /// Puts the step back to PENDING for a new iteration. The counts of iterations and executions and
  /// last_gate_failure stay.
  void reset();
  /// Forgets the items of the loop and the artifacts made from them.
  void restart_loop();
  bool done() const { return row().done; }
  const StatusRow& row() const { return kStatus.at(static_cast<std::size_t>(status)); }
};

StepRecord step_record(const Value& step);
Json json_of(const StepRecord& step);

/// State of the whole run; `status` in run_state.json.
enum class RunStatus { running, waiting, completed, failed, cancelled, paused };
std::string_view word(RunStatus status);
/// The words of a run and of its steps, for Dialect::words.
std::vector<Word> words();

/// The state of a run. A decision changes it in memory.
struct RunRecord {
  RunStatus status = RunStatus::running;
  std::map<std::string, StepRecord, std::less<>> steps;
};
RunRecord run_record(const Value& root);

/// The value as text, indented for the given depth in the file.
std::string indented(const Json& value, std::size_t depth);

/// The edits that make the document match the record, with updated_at. Empty if it matches already.
std::vector<json::Edit> edits(const Value& root, const RunRecord& record,
                              const std::string& updated_at);

/// Whether the members that baton owns are the same in two versions of a run state.
bool same_record(const Value& before, const Value& after);

}  // namespace baton::agent_run
