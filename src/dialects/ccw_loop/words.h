#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/effect.h"
#include "dialects/words.h"

namespace baton::ccw_loop {

constexpr std::string_view kDialect = "ccw_loop";

/// The control word of a loop.
enum class Status { created, running, paused, completed, failed, user_exit };

struct StatusRow {
  std::string_view word;
  Status status;
  Control control;  ///< what it means for a running executor
  bool ended;       ///< nothing goes on until somebody starts it again
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

/// Nothing for a word that is none.
constexpr std::optional<Status> parse_status(std::string_view word) {
  for (const StatusRow& row : kStatuses)
    if (row.word == word)
      return row.status;
  return std::nullopt;
}

/// Who may work on a task without being configured by `tools:`.
inline constexpr std::array<std::string_view, 4> kTools = {"gemini", "qwen", "codex", "bash"};

/// The reason that makes a failed loop a stopped one.
inline constexpr std::string_view kStoppedByUser = "Manually stopped by user";

}  // namespace baton::ccw_loop
