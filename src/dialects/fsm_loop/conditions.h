// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every state in which a loop can stand, with the condition and the reason that people are told.
// standing.cpp finds the state of a loop. All holds and standings of the dialect use this table.

#include <array>
#include <string_view>

#include "core/condition.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

enum class Situation {
  not_started,
  other_program,
  owner_dead,
  pausing,
  awaiting_continuation,
  completed,
  failure_terminal,
  error,
  cycle_detected,
  handoff_terminated,
  max_steps,
  timed_out,
  last_pass,
  stopped_by_agent,
  stopped_by_signal,
  stopped_by_operator,
  stopped_by_files,
  definition_rejected,
  state_rejected,
  state_gone,
  shell_forbidden,
};

using SituationRow = baton::SituationRow<Situation>;
inline constexpr std::array kSituations = {
    SituationRow{Situation::not_started, {"not_started", {Condition::idle, Reason::not_started}}},
    // A loop of another program that runs, that may run, or that its program has ended.
    SituationRow{Situation::other_program,
                 {"other_program", {Condition::idle, Reason::other_program}}},
    SituationRow{Situation::owner_dead, {"owner_dead", {Condition::blocked, Reason::interrupted}}},
    // A pause of the loop itself: backoff, throttle or rate limit.
    SituationRow{Situation::pausing, {"pausing", {Condition::waiting, Reason::back_off}}},
    SituationRow{Situation::awaiting_continuation,
                 {"awaiting_continuation", {Condition::blocked, Reason::continue_wanted}}},
    SituationRow{Situation::completed, {"completed", {Condition::done, Reason::none}}},
    SituationRow{Situation::failure_terminal,
                 {"failure_terminal", {Condition::failed, Reason::declared}}},
    SituationRow{Situation::error, {"error", {Condition::failed, Reason::loop_error}}},
    SituationRow{Situation::cycle_detected,
                 {"cycle_detected", {Condition::failed, Reason::loop_error}}},
    SituationRow{Situation::handoff_terminated,
                 {"handoff_terminated", {Condition::failed, Reason::loop_error}}},
    // Also max_iterations, the older name of the same limit.
    SituationRow{Situation::max_steps, {"max_steps", {Condition::failed, Reason::max_steps}}},
    SituationRow{Situation::timed_out, {"timed_out", {Condition::failed, Reason::timed_out}}},
    // Any limit of steps or passes of a loop with `maintain`, which has no end of its own.
    SituationRow{Situation::last_pass, {"last_pass", {Condition::stopped, Reason::limit}}},
    SituationRow{Situation::stopped_by_agent,
                 {"stopped_by_agent", {Condition::stopped, Reason::agent}}},
    SituationRow{Situation::stopped_by_signal,
                 {"stopped_by_signal", {Condition::stopped, Reason::signal}}},
    SituationRow{Situation::stopped_by_operator,
                 {"stopped_by_operator", {Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::stopped_by_files,
                 {"stopped_by_files", {Condition::stopped, Reason::files}}},
    SituationRow{Situation::definition_rejected,
                 {"definition_rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::state_rejected,
                 {"state_rejected", {Condition::blocked, Reason::file_rejected}}},
    SituationRow{Situation::state_gone, {"state_gone", {Condition::gone, Reason::files}}},
    SituationRow{Situation::shell_forbidden,
                 {"shell_forbidden", {Condition::blocked, Reason::agent_unusable}}},
};
static_assert(in_enum_order(kSituations, &SituationRow::situation, Situation::shell_forbidden));

/// For Dialect::states.
inline constexpr auto kStates = states_of(kSituations);

constexpr std::string_view word(Situation situation) {
  return state_of(kStates, situation).state;
}
constexpr Cause cause_of(Situation situation) {
  return state_of(kStates, situation).cause;
}

}  // namespace baton::fsm_loop
