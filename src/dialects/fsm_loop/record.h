#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

/// How far the present entry of `current_state` has come. What is behind a phase is never done
/// again: after a crash and after a resume it goes on from there.
enum class Phase {
  entered,      ///< the action is to run, or runs
  action_done,  ///< it has ended, and its result is kept
  evaluated,    ///< there is a verdict
  routed,       ///< `current_state` is the next one, not yet entered
};
struct PhaseRow {
  std::string_view word;
  Phase phase;
};
inline constexpr std::array kPhase = {
    PhaseRow{"entered", Phase::entered},
    PhaseRow{"action_done", Phase::action_done},
    PhaseRow{"evaluated", Phase::evaluated},
    PhaseRow{"routed", Phase::routed},
};
static_assert(in_enum_order(kPhase, &PhaseRow::phase, Phase::routed));

using Counts = std::map<std::string, std::int64_t>;

/// A loop's progress: its state file, or what is kept of a loop that runs inside another.
struct Record {
  std::string loop_name;
  std::string current_state;
  std::int64_t iteration = 0;  ///< states entered
  std::int64_t cycle = 0;      ///< entries of the initial state
  Json captured = Json::object();
  Json prev_result;  ///< null: no action yet
  Json last_result;  ///< null: no evaluation yet
  std::string started_at;
  Status status = Status::running;
  std::string continuation_prompt;
  std::int64_t accumulated_ms = 0;    ///< at work before the last resume
  std::int64_t passes = 0;            ///< restarts of a maintained loop
  Counts retries;                     ///< re-entries in a row, by state
  Counts edges;                       ///< by `from->to`
  Counts entries;                     ///< in a row, of states with a throttle
  Json rate_limits = Json::object();  ///< by state; see rate_limit.h
  std::int64_t exhaustions = 0;       ///< of rate limits, in a row
  std::vector<std::string> messages;
  Json context = Json::object();  ///< set at the start; laid over the definition's
  Phase phase = Phase::routed;
  std::string resumed_at;
  std::int64_t resume_count = 0;
  std::int64_t seq = 0;                   ///< of the last event
  std::optional<std::int64_t> max_steps;  ///< set at the start, instead of the definition's
  std::string start;                      ///< the request it began with; empty: not begun by baton
  std::string archived;                   ///< where the run before was put; empty: none
  std::string terminated_by;              ///< when it has ended
  std::string limited_state;              ///< what a limit kept from being entered; another was run
  std::string error;                      ///< why it failed

  std::string_view status_word() const { return kStatus.at(static_cast<std::size_t>(status)).word; }
};

/// The last of a text, without a character cut in two.
std::string_view last_bytes(std::string_view text, std::size_t bytes);

/// The messages of a loop in bytes, and what it has captured, as JSON. Its state has to stay a file
/// that can be read, which may have 16 MiB.
inline constexpr std::size_t kMostMessages = 2'097'152;
inline constexpr std::size_t kMostCaptured = 12'582'912;

/// Enters a message. The oldest are dropped for it, and of one that is longer the beginning.
void add_message(Record& record, std::string_view message);

/// Takes the way between two states.
void take_way(Record& record, const std::string& from, const std::string& to);

/// Reads a document that the schema accepts.
Record record_of(const Value& state);
/// The document as it has to be; members of `before` that baton does not know stay.
Json json_of(const Record& record, const Value* before);

}  // namespace baton::fsm_loop
