#pragma once

#include <array>
#include <string_view>

#include "dialects/tables.h"

namespace baton::agent_run {

/// Where a step stands, as run_state.json says.
enum class Status { pending, running, waiting_on_human, completed, failed, skipped };
struct StatusRow {
  std::string_view word;
  Status status;
  bool began;  ///< it was started at least once
  bool done;   ///< steps that need it may begin
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

/// What a report says of its step, in upper case; agents use many words for two answers.
struct ReportRow {
  std::string_view word;
  bool completed;
};
inline constexpr std::array kReport = {
    ReportRow{"COMPLETED", true}, ReportRow{"SUCCESS", true}, ReportRow{"OK", true},
    ReportRow{"DONE", true},      ReportRow{"PASSED", true},  ReportRow{"FAILED", false},
    ReportRow{"FAIL", false},     ReportRow{"ERROR", false},  ReportRow{"CANCELLED", false},
};

/// What a person may say, in upper case: `status` and `decision` of a manual input.
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
