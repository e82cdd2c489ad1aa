#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

// What the reading commands say, as data. The words are those of docs/status.md.

/// What a flow's processes do. Not what its files declare.
enum class Process {
  running,  ///< agents run
  waiting,  ///< something is to be started, and will be without anybody's doing
  held,     ///< something is to be started, and somebody has to do something first
  paused,   ///< by an operator, or by the flow's own files
  stopped,  ///< the same
  idle,     ///< nothing is to be done
  failed,   ///< it has ended badly, or attempts or budget are used up
  gone,     ///< a file it needs is gone
};
std::string_view word(Process process);
std::optional<Process> parse_process(std::string_view word);

/// One flow at one moment.
struct FlowStatus {
  FlowId flow;
  std::string declared;  ///< the flow's own word for where it stands
  Process process = Process::idle;
  Time since{};          ///< of the last entry into a stage, or of the operator's word
  Time last_activity{};  ///< a document, a start, an end
  Word
      waiting_for;  ///< `agent`, `start`, `change`, `resume`, `valid_file`, or the reason of a hold
  std::string why;
  std::size_t agents = 0;      ///< alive
  std::optional<double> cost;  ///< as reported by the runs that are remembered, in US dollars
  Json details;                ///< what its dialect tells besides (its format page), or null
  bool operator==(const FlowStatus&) const = default;
};

/// Of one flow, from its book, the last plan, and the operator's word for the whole root.
FlowStatus status_of(const FlowRecord& record, const Plan& plan, const ControlRow& root);
/// Of all flows, by name.
std::vector<FlowStatus> statuses(const FlowRecords& records, const Plan& plan);

/// What was found first of a rejected version.
std::string first_message(const RejectedRow& row);
/// What the living daemon makes of a file that a rehearsal accepts; `known`: as the journal has the
/// flow, or nullptr.
std::string unseen_by_daemon(const std::string& path, const FlowRecord* known);

/// How a run has ended, for people: `failed (exit_1)`, `did not run (write_refused)`.
inline constexpr std::string_view kDidNotRun = "did not run";
std::string ending_text(const Run& run);

/// One line of `status --json`, `agents --json`, `events --json`.
Json status_json(const FlowStatus& status);
Json agent_json(const Run& run);
Json event_json(const Event& event);

}  // namespace baton
