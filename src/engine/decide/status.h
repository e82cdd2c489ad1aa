#pragma once

// What `baton status`, `baton agents` and `baton events` show, as data. The words are those of
// docs/status.md.
// The status of a flow comes from its flow record, the last plan, and the operator's order for the
// whole root. Nothing is decided here.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What the processes of a flow do, whatever its files declare.
enum class Process {
  running,  ///< agents run
  waiting,  ///< something will start by itself
  held,     ///< something could start, but a person has to act first
  paused,   ///< by an operator, or by the flow's own files
  stopped,  ///< by an operator, or by the flow's own files
  idle,     ///< there is nothing to do
  failed,   ///< the flow ended badly, or attempts or budget are used up
  gone,     ///< a file that the flow needs is gone
};
std::string_view word(Process process);
std::optional<Process> parse_process(std::string_view word);

/// One flow at one moment.
struct FlowStatus {
  FlowId flow;
  std::string declared;  ///< the status word in the flow's own files
  Process process = Process::idle;
  Time since{};          ///< last entry into a stage, or last order of the operator
  Time last_activity{};  ///< last change of a document, start or end of an agent
  Word
      waiting_for;  ///< `agent`, `start`, `change`, `resume`, `valid_file`, or the reason of a hold
  std::string why;
  std::size_t agents = 0;      ///< how many run
  std::optional<double> cost;  ///< as reported by the runs that are remembered, in US dollars
  Json details;                ///< more from the dialect (see its format page), or null
  bool operator==(const FlowStatus&) const = default;
};

/// The status of one flow. `root`: the operator's order for the whole root.
FlowStatus status_of(const FlowRecord& record, const Plan& plan, const ControlRow& root);
/// The status of all flows, by name. If folders of the root are faulty, the root comes first.
std::vector<FlowStatus> statuses(const FlowRecords& records, const Plan& plan);

/// The message of the first finding of a rejected version.
std::string first_message(const RejectedRow& row);
/// Says that the running daemon has not accepted a file that a rehearsal accepts, and why. `known`:
/// the flow record from the journal, or nullptr.
std::string unseen_by_daemon(const std::string& path, const FlowRecord* known);

/// How a run has ended, for people: `failed (exit_1)`, `did not run (write_refused)`.
inline constexpr std::string_view kDidNotRun = "did not run";
std::string ending_text(const Run& run);

/// One line of `status --json`, `agents --json`, `events --json`.
Json status_json(const FlowStatus& status);
Json agent_json(const Run& run);
Json event_json(const Event& event);

}  // namespace baton
