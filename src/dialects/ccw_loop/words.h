// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words of the master state as enumerations, with one table for each.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/effect.h"
#include "dialects/tables.h"

namespace baton::ccw_loop {

constexpr std::string_view kDialect = "ccw_loop";

/// The status of a loop.
enum class Status { created, running, paused, completed, failed, user_exit };

struct StatusRow {
  std::string_view word;
  Status status;
  Control control;  ///< what a running executor has to do
  bool ended;       ///< nothing happens until a person starts the loop again
};
inline constexpr std::array kStatuses = {
    StatusRow{"created", Status::created, Control::idle, false},
    StatusRow{"running", Status::running, Control::run, false},
    StatusRow{"paused", Status::paused, Control::pause, false},
    StatusRow{"completed", Status::completed, Control::idle, true},
    StatusRow{"failed", Status::failed, Control::stop, true},
    StatusRow{"user_exit", Status::user_exit, Control::idle, true},
};
static_assert(in_enum_order(kStatuses, &StatusRow::status, Status::user_exit));

/// Nothing for any other word.
constexpr std::optional<Status> parse_status(std::string_view word) {
  const StatusRow* const row = row_of(kStatuses, word);
  return row == nullptr ? std::nullopt : std::optional(row->status);
}

inline std::string_view word(Status status) {
  return kStatuses.at(static_cast<std::size_t>(status)).word;
}

/// Whether a write that contains no new work may change the status like this (format page,
/// Control).
constexpr bool legal_move(Status from, Status to) {
  switch (from) {
    case Status::created:
      return to == Status::running || to == Status::failed;
    case Status::running:
      return to != Status::created;
    case Status::paused:
    case Status::user_exit:
      return to == Status::running || to == Status::failed;
    case Status::completed:
    case Status::failed:
      return false;
  }
  return false;
}

/// What baton starts an executor for. The word is the purpose of the run.
enum class Action { init, develop, debug, validate, complete };

struct ActionRow {
  std::string_view word;
  Action action;
  bool counts;  ///< the action counts as an iteration
};
inline constexpr std::array kActions = {
    ActionRow{"init", Action::init, false}, ActionRow{"develop", Action::develop, true},
    ActionRow{"debug", Action::debug, true}, ActionRow{"validate", Action::validate, true},
    ActionRow{"complete", Action::complete, false}};
static_assert(in_enum_order(kActions, &ActionRow::action, Action::complete));

inline std::string_view word(Action action) {
  return kActions.at(static_cast<std::size_t>(action)).word;
}
/// Nothing for any other word. Only lower case counts.
constexpr std::optional<Action> parse_action(std::string_view word) {
  const ActionRow* const row = row_of(kActions, word);
  return row == nullptr ? std::nullopt : std::optional(row->action);
}

inline constexpr std::string_view kExecutor = "executor";
/// The only subject of a loop.
inline constexpr std::string_view kMain = "main";

/// Tools that need no entry in `tools:`.
inline constexpr std::array<std::string_view, 4> kTools = {"gemini", "qwen", "codex", "bash"};

/// The failure_reason of a loop that a person stopped.
inline constexpr std::string_view kStoppedByUser = "Manually stopped by user";

/// The folder for files of forgotten loops, below the dialect's folder. baton does not watch it.
inline constexpr std::string_view kForgotten = ".forgotten";

}  // namespace baton::ccw_loop
