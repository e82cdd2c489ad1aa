#pragma once

// The words of the files as enumerations and tables.

#include <array>
#include <string_view>

#include "dialects/tables.h"

namespace baton::agent_run {

/// State of a step in run_state.json.
enum class Status { pending, running, waiting_on_human, completed, failed, skipped };
struct StatusRow {
  std::string_view word;
  Status status;
  bool began;  ///< was started at least once
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

/// Status words of reports, in upper case. Agents use many words for two results.
struct ReportRow {
  std::string_view word;
  bool completed;
};
inline constexpr std::array kReport = {
    ReportRow{"COMPLETED", true}, ReportRow{"SUCCESS", true}, ReportRow{"OK", true},
    ReportRow{"DONE", true},      ReportRow{"PASSED", true},  ReportRow{"FAILED", false},
    ReportRow{"FAIL", false},     ReportRow{"ERROR", false},  ReportRow{"CANCELLED", false},
};

/// Words of a manual input, in upper case: `status` and `decision`.
struct DecisionRow {
  std::string_view word;
  bool approved;
};
inline constexpr std::array kStatusDecision = {
    DecisionRow{"PASSED", true},  DecisionRow{"APPROVED", true},  DecisionRow{"COMPLETED", true},
    DecisionRow{"FAILED", false}, DecisionRow{"REJECTED", false},
};
inline constexpr std::array kDecision = {
    DecisionRow{"APPROVE", true},
    DecisionRow{"REJECT", false},
};

}  // namespace baton::agent_run
