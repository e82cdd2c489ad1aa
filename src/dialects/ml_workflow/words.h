#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/effect.h"
#include "dialects/tables.h"

namespace baton::ml_workflow {

constexpr std::string_view kDialect = "ml_workflow";

/// The control word of a workflow.
enum class Status { initialized, running, paused, completed, failed, cancelled };

struct StatusRow {
  std::string_view word;
  Status status;
  Control control;  ///< what it means for a running agent
  bool ended;       ///< nothing goes on any more
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

/// Nothing for a word that is none.
constexpr std::optional<Status> parse_status(std::string_view word) {
  for (const StatusRow& row : kStatuses)
    if (row.word == word)
      return row.status;
  return std::nullopt;
}

/// What a person is asked about.
inline constexpr std::array<std::string_view, 3> kApprovals = {"plan", "code", "final"};

/// The scores that decide, and what each has to reach unless convergence_criteria says otherwise.
struct ScoreRow {
  std::string_view score;
  std::string_view threshold;
  double least;
  double weight;  ///< in the overall score that is shown
};
inline constexpr std::array kScores = {
    ScoreRow{"alignment_score", "alignment_threshold", 9.0, 0.4},
    ScoreRow{"standardization_score", "standardization_threshold", 8.0, 0.3},
    ScoreRow{"compatibility_score", "compatibility_threshold", 8.0, 0.3},
};

}  // namespace baton::ml_workflow
