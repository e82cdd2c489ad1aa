// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `baton status`, `baton agents` and `baton events` show, as data.
//
// Problem: a flow has holds, runs, orders of an operator and files, and people want one answer.
// Way: all that fits is put in order by the tables of core/condition.h, and the first counts. The
// words are explained in docs/status.md.
// Limits: nothing is decided here; it shows the flow record and the last plan.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "core/reconcile.h"
#include "engine/state/flow_record.h"

namespace baton {

/// How one subject of a flow stands.
struct SubjectStatus {
  Subject name;
  Word stage;
  Cause cause;
  Role agent;                 ///< of its last run; empty: none
  std::uint32_t attempt = 0;  ///< of its last run; 0: none
  bool operator==(const SubjectStatus&) const = default;
};

/// One flow at one moment.
struct FlowStatus {
  FlowId flow;
  std::string declared;            ///< the status word in the flow's own files
  Cause cause;                     ///< condition and reason
  std::string why;                 ///< one sentence for people
  std::string action;              ///< see Standing::action
  std::optional<Time> until;       ///< see Standing::until
  Time since{};                    ///< last entry into a stage, or last order of the operator
  Time last_activity{};            ///< last change of a document, start or end of an agent
  std::size_t agents = 0;          ///< how many run
  Role agent;                      ///< of the last run; empty: none
  std::uint32_t attempt = 0;       ///< of the last run; 0: none
  std::uint32_t attempts_max = 0;  ///< 0: unknown
  std::optional<double> cost;      ///< as reported by the runs that are remembered, in US dollars
  std::optional<Progress> progress;
  std::vector<SubjectStatus> subjects;  ///< see subjects_in_order
  Json details;                         ///< more from the dialect (see its format page), or null
  bool absent = false;  ///< all its files are gone and nothing is due: it leaves the list
  bool operator==(const FlowStatus&) const = default;
};

/// The status of one flow. `root`: the operator's order for the whole root.
FlowStatus status_of(const FlowRecord& record, const Plan& plan, const ControlRow& root);
/// The status of all flows, by name. If folders of the root are faulty, the root comes first.
std::vector<FlowStatus> statuses(const FlowRecords& records, const Plan& plan);

/// The subjects of a flow in the order of its layout, those that it does not order by name.
std::vector<Subject> subjects_in_order(const FlowRecord& record);

/// All that stands in the way of the flow, what counts first at the front. An order for this flow
/// alone counts before everything but the loss of its files, and one for the whole root (`root`)
/// comes behind it.
std::vector<Hold> obstacles(const FlowRecord& record, const ControlRow& root);

/// What lifts an order for the whole root.
inline constexpr std::string_view kResumeAll = "baton resume --all";
/// Why an order for the whole root holds a flow.
inline std::string why_all(const ControlRow& root) {
  return root.why + " (the whole root)";
}

/// Adds what follows from rejected files, because somebody has to look. Leaves out files that a
/// hold names already and those that the dialect deals with (Decision::own_faults).
void add_rejected(const FlowRecord& record, std::vector<Hold>& holds);

/// The message of the first finding of a rejected version.
std::string first_message(const RejectedRow& row);
/// The path of a rejected file with line, column and message of its first finding.
std::string first_finding(const RejectedRow& row);
/// Says that the running daemon has not accepted a file that a rehearsal accepts, and why. `known`:
/// the flow record from the journal, or nullptr.
std::string unseen_by_daemon(const std::string& path, const FlowRecord* known);

/// How a run has ended, for people: `failed (exit_1)`, `did not run (file_changed)`.
inline constexpr std::string_view kDidNotRun = "did not run";
std::string ending_text(const Run& run);

/// One line of `status --json`, `agents --json`, `events --json`.
Json status_json(const FlowStatus& status);
Json agent_json(const Run& run);
Json event_json(const Event& event);

}  // namespace baton
