#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "dialects/agent_run/words.h"

namespace baton::agent_run {

/// One step as run_state.json has it. Members that baton does not know stay in the file untouched.
struct StepRecord {
  Status status = Status::pending;
  std::int64_t attempts = 0;
  std::int64_t iterations = 0;
  /// Starts in all iterations; never reset, so that it tells the starts of a step apart.
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
  Json loop_items;  ///< null: not known yet, or no loop
  bool loop_completed = false;

  /// Where a step is that has not begun in this iteration; counters and last_gate_failure stay.
  void reset();
  /// A loop as it is before its items are known; what they have made is not the step's any more.
  void restart_loop();
  bool done() const { return row().done; }
  const StatusRow& row() const { return kStatus.at(static_cast<std::size_t>(status)); }
};

StepRecord step_record(const Value& step);
/// Name and value in the order of the file.
std::vector<std::pair<std::string_view, Json>> members(const StepRecord& step);
Json json_of(const StepRecord& step);

/// Where the run as a whole stands; `status` of run_state.json.
enum class RunStatus { running, waiting, completed, failed, cancelled, paused };
std::string_view word(RunStatus status);

/// The state of a run under construction.
struct RunRecord {
  RunStatus status = RunStatus::running;
  std::map<std::string, StepRecord, std::less<>> steps;
};
RunRecord run_record(const Value& root);

/// A value as it stands in the file, so many objects deep: indented like the rest.
std::string laid_out(const Json& value, std::size_t depth);

/// What has to be changed in the document so that it says what the record says. Empty when it
/// already does; else updated_at is among it.
std::vector<json::Edit> edits(const Value& root, const RunRecord& record,
                              const std::string& updated_at);

/// Whether two versions of a run state differ in nothing that baton owns.
bool same_record(const Value& before, const Value& after);

}  // namespace baton::agent_run
