// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "dialects/tables.h"

namespace baton::fsm_loop {

// The words of state and definition files as enumerations, with one table for each.

/// The status of a loop in its state file.
enum class Status {
  running,
  completed,
  failed,
  interrupted,
  awaiting_continuation,
  timed_out,
  user_stopped,
};
struct StatusRow {
  std::string_view word;
  Status status;
  bool resumable;  ///< timed_out: with a higher limit; running: without a live owner
};
inline constexpr std::array kStatus = {
    StatusRow{"running", Status::running, true},
    StatusRow{"completed", Status::completed, false},
    StatusRow{"failed", Status::failed, false},
    StatusRow{"interrupted", Status::interrupted, true},
    StatusRow{"awaiting_continuation", Status::awaiting_continuation, true},
    StatusRow{"timed_out", Status::timed_out, true},
    StatusRow{"user_stopped", Status::user_stopped, true},
};
static_assert(in_enum_order(kStatus, &StatusRow::status, Status::user_stopped));
constexpr const auto& word_table(Status /*status*/) {
  return kStatus;
}

enum class Evaluator {
  exit_code,
  output_numeric,
  output_json,
  output_contains,
  convergence,
  llm_structured,
  mcp_result,
  harbor_scorer,
  diff_stall,
  action_stall,
  score_stall,
  open_question_stall,
  classify,
  comparator,
  contract,
};
struct EvaluatorRow {
  std::string_view word;
  Evaluator evaluator;
  std::array<std::string_view, 3> needs;  ///< required members; empty: none
  bool supported;                         ///< false: the original has it, and baton does not run it
  bool later = false;                     ///< only later generations know it
  bool needs_success = false;             ///< a non-zero exit code is an error
};
inline constexpr std::array kEvaluators = {
    EvaluatorRow{"exit_code", Evaluator::exit_code, {}, true},
    EvaluatorRow{
        "output_numeric", Evaluator::output_numeric, {"operator", "target"}, true, false, true},
    EvaluatorRow{
        "output_json", Evaluator::output_json, {"path", "operator", "target"}, true, false, true},
    EvaluatorRow{"output_contains", Evaluator::output_contains, {"pattern"}, true, false, true},
    EvaluatorRow{"convergence", Evaluator::convergence, {"target"}, true, false, true},
    EvaluatorRow{"llm_structured", Evaluator::llm_structured, {}, true},
    EvaluatorRow{"mcp_result", Evaluator::mcp_result, {}, true, true},
    EvaluatorRow{"harbor_scorer", Evaluator::harbor_scorer, {}, true, true},
    EvaluatorRow{"diff_stall", Evaluator::diff_stall, {}, true, true},
    EvaluatorRow{"action_stall", Evaluator::action_stall, {}, true, true},
    EvaluatorRow{"score_stall", Evaluator::score_stall, {}, true, true},
    EvaluatorRow{"open_question_stall", Evaluator::open_question_stall, {}, true, true},
    EvaluatorRow{"classify", Evaluator::classify, {}, true, true, true},
    EvaluatorRow{"comparator", Evaluator::comparator, {"baseline_path"}, false, true, true},
    EvaluatorRow{"contract", Evaluator::contract, {"pairs"}, false, true},
};
static_assert(in_enum_order(kEvaluators, &EvaluatorRow::evaluator, Evaluator::contract));

/// The generation of the original that a definition is written for. It decides the words of
/// verdicts and some defaults.
enum class Generation { v1, modern };

/// What a handoff leads to.
enum class Handoff { pause, spawn, terminate };
struct HandoffRow {
  std::string_view word;
  Handoff handoff;
};
inline constexpr std::array kHandoffs = {
    HandoffRow{"pause", Handoff::pause},
    HandoffRow{"spawn", Handoff::spawn},
    HandoffRow{"terminate", Handoff::terminate},
};
static_assert(in_enum_order(kHandoffs, &HandoffRow::handoff, Handoff::terminate));

/// How an action is run.
enum class ActionType { prompt, slash_command, shell, mcp_tool, contract };
struct ActionRow {
  std::string_view word;
  ActionType type;
  bool supported;
};
inline constexpr std::array kActions = {
    ActionRow{"prompt", ActionType::prompt, true},
    ActionRow{"slash_command", ActionType::slash_command, true},
    ActionRow{"shell", ActionType::shell, true},
    ActionRow{"mcp_tool", ActionType::mcp_tool, false},
    ActionRow{"contract", ActionType::contract, false},
};
static_assert(in_enum_order(kActions, &ActionRow::type, ActionType::contract));

}  // namespace baton::fsm_loop
