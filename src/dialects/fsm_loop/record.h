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

// The progress of a loop: its state file as a type. Members of the file that baton does not know
// stay in it.

/// How far the present entry of `current_state` is. Nothing before this point is ever repeated,
/// neither after a crash nor after a resume.
enum class Phase {
  entered,      ///< the action has to run, or runs
  action_done,  ///< the action has ended, and its result is stored
  evaluated,    ///< there is a verdict
  routed,       ///< `current_state` is the next state and not entered yet
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
constexpr const auto& word_table(Phase /*phase*/) {
  return kPhase;
}

using Counts = std::map<std::string, std::int64_t>;

/// The progress of one loop. Loops inside another one have it in the memo instead of a file.
struct Record {
  std::string loop_name;
  std::string current_state;
  std::int64_t iteration = 0;  ///< number of states entered
  std::int64_t cycle = 0;      ///< how often the initial state was entered
  Json captured = Json::object();
  Json prev_result;  ///< null: no action has run
  Json last_result;  ///< null: nothing was evaluated
  std::string started_at;
  std::string updated_at;
  Status status = Status::running;
  std::string continuation_prompt;
  std::int64_t accumulated_ms = 0;    ///< working time before the last resume
  std::int64_t passes = 0;            ///< restarts of a loop with `maintain`
  Counts retries;                     ///< by state: re-entries in a row
  Counts edges;                       ///< by `from->to`
  Counts entries;                     ///< by state with a throttle: entries in a row
  Json rate_limits = Json::object();  ///< by state; see output_signals.h
  std::int64_t exhaustions = 0;       ///< rate limits in a row that did not lift
  std::vector<std::string> messages;
  Json context = Json::object();  ///< values of the start, merged over those of the definition
  Phase phase = Phase::routed;
  std::string resumed_at;
  std::int64_t resume_count = 0;
  std::int64_t seq = 0;                   ///< number of the last event
  std::optional<std::int64_t> max_steps;  ///< of the start; replaces that of the definition
  std::string start;          ///< id of the request that started it; empty: another program did
  std::string archived;       ///< folder of the run before; empty: none
  std::string terminated_by;  ///< why it has ended
  std::string limited_state;  ///< the state that a limit replaced by a summary state
  std::string error;          ///< why it failed

  std::string_view status_word() const { return kStatus.at(static_cast<std::size_t>(status)).word; }
};

/// The end of a text. Never cuts a UTF-8 character.
std::string_view last_bytes(std::string_view text, std::size_t bytes);

/// The largest messages (bytes) and captures (bytes of JSON) of a loop. The state file must stay
/// below the 16 MiB that a reader accepts.
inline constexpr std::size_t kMostMessages = 2'097'152;
inline constexpr std::size_t kMostCaptured = 12'582'912;

/// Adds a message. Drops the oldest ones, and then the beginning of this one, to stay within the
/// limit.
void add_message(Record& record, std::string_view message);

/// Moves `record` to the next state and counts or resets retries.
void change_state(Record& record, const std::string& from, const std::string& to);

/// Reads a document that its schema accepts.
Record record_of(const Value& state);
/// The state file to write. Members of `before` that baton does not know stay.
Json json_of(const Record& record, const Value* before);

}  // namespace baton::fsm_loop
