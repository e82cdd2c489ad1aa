// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words of the state file as enumerations and tables.

#include <array>
#include <optional>
#include <string_view>

#include "core/effect.h"
#include "dialects/tables.h"

namespace baton::ml_workflow {

constexpr std::string_view kDialect = "ml_workflow";

/// The state of a workflow.
enum class Status { initialized, running, paused, completed, failed, cancelled };

struct StatusRow {
  std::string_view word;
  Status status;
  Control control;  ///< what a running agent does
  bool ended;       ///< the workflow is over
};
inline constexpr std::array kStatuses = {
    StatusRow{"initialized", Status::initialized, Control::run, false},
    StatusRow{"running", Status::running, Control::run, false},
    StatusRow{"paused", Status::paused, Control::pause, false},
    StatusRow{"completed", Status::completed, Control::stop, true},
    StatusRow{"failed", Status::failed, Control::stop, true},
    StatusRow{"cancelled", Status::cancelled, Control::stop, true},
};
static_assert(in_enum_order(kStatuses, &StatusRow::status, Status::cancelled));

/// Nothing for an unknown word.
constexpr std::optional<Status> parse_status(std::string_view word) {
  const StatusRow* const row = row_of(kStatuses, word);
  return row == nullptr ? std::nullopt : std::optional(row->status);
}

/// The approvals that a person gives.
inline constexpr std::array<std::string_view, 3> kApprovals = {"plan", "code", "final"};

/// Lists of the file that several parts read.
inline constexpr std::string_view kRounds = "/convergence_status/convergence_history";
inline constexpr std::string_view kDecisions = "/human_approvals/approval_history";

/// The error type that baton gives if the agent of a step ended without a result.
inline constexpr std::string_view kAgentExit = "agent_exit";

/// The scores that decide, with their default thresholds.
struct ScoreRow {
  std::string_view score;
  std::string_view threshold;
  double least;
  double weight;  ///< weight in overall_score
};
inline constexpr std::array kScores = {
    ScoreRow{"alignment_score", "alignment_threshold", 9.0, 0.4},
    ScoreRow{"standardization_score", "standardization_threshold", 8.0, 0.3},
    ScoreRow{"compatibility_score", "compatibility_threshold", 8.0, 0.3},
};

}  // namespace baton::ml_workflow
