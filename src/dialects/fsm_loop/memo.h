// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"
#include "dialects/fsm_loop/verdict.h"
#include "dialects/fsm_loop/words.h"

namespace baton::fsm_loop {

// The progress of a loop: its state file as a struct. The file keeps members that baton does not
// know.

/// How far the present entry of `current_state` is. baton repeats nothing before this point: not
/// after a crash, and not after a resume without `--redo`.
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

/// The progress of one loop. For a loop inside another one, the memo has it instead of a file.
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
  Counts entries;                     ///< by state with a throttle: runs of its action in a row
  Json rate_limits = Json::object();  ///< by state; see Waited
  std::int64_t exhaustions = 0;       ///< how many rate limits in a row outlasted all retries
  std::vector<std::string> messages;
  Json context = Json::object();  ///< values of the start, on top of those of the definition
  Phase phase = Phase::routed;
  std::string resumed_at;
  std::int64_t resume_count = 0;
  std::int64_t seq = 0;                   ///< number of the last event
  std::optional<std::int64_t> max_steps;  ///< from the start; replaces that of the definition
  bool ignore_unsupported = false;  ///< states that baton does not carry out fail when entered
  std::string start;          ///< id of the request that started it; empty: another program did
  std::string archived;       ///< folder of the run before; empty: none
  std::string terminated_by;  ///< why it has ended
  std::string limited_state;  ///< the state that a limit replaced by a summary state
  std::string error;          ///< why it failed

  std::string_view status_word() const { return kStatus.at(static_cast<std::size_t>(status)).word; }
};

/// The end of a text. It does not begin within a UTF-8 character.
std::string_view last_bytes(std::string_view text, std::size_t bytes);

/// The largest messages (bytes) and captures (bytes of JSON) of a loop. The state file must stay
/// below the 16 MiB that a reader accepts.
inline constexpr std::size_t kMostMessages = 2'097'152;
inline constexpr std::size_t kMostCaptured = 12'582'912;

/// Adds a message. To stay within the limit it drops the oldest messages, and then the beginning of
/// this one.
void add_message(Record& record, std::string_view message);

/// Moves `record` to the next state and counts or resets retries.
void change_state(Record& record, const std::string& from, const std::string& to);

/// The document must have passed its schema.
Record record_of(const Value& state);
/// The state file to write. It keeps members of `before` that baton does not know.
Json json_of(const Record& record, const Value* before);

// What baton remembers of a loop besides its state file. The journal commits it together with the
// state file. The names of its JSON members never change.

/// What happens now in the state that a loop has entered.
enum class Step {
  enter,   ///< the loop has to enter the next state
  act,     ///< the action of the state runs
  judge,   ///< a judge or `git diff` runs, because the verdict needs it
  child,   ///< another loop runs in the state: the next frame
  attach,  ///< git makes the worktree for that loop
  detach,  ///< that loop has ended, and git removes its worktree; this is the step of its frame
};
struct StepRow {
  std::string_view word;
  Step step;
};
inline constexpr std::array kStep = {
    StepRow{"enter", Step::enter}, StepRow{"act", Step::act},       StepRow{"judge", Step::judge},
    StepRow{"child", Step::child}, StepRow{"attach", Step::attach}, StepRow{"detach", Step::detach},
};
static_assert(in_enum_order(kStep, &StepRow::step, Step::detach));
constexpr const auto& word_table(Step /*step*/) {
  return kStep;
}

/// How a loop inside another one has ended.
struct ChildEnd {
  std::string terminated_by;
  bool failure = false;
  std::string error;
};

/// The work in the present entry of a state.
struct Work {
  Step step = Step::enter;
  std::string action;                   ///< the text to run, with placeholders filled in
  std::int64_t tries = 0;               ///< retries of the action in this entry
  std::int64_t api_tries = 0;           ///< those after an error of a server
  std::int64_t infra_tries = 0;         ///< those after SIGTERM ended the action
  RunId announced;                      ///< the run for which `action_start` was logged
  std::optional<ActionResult> result;   ///< of the action, once it has ended
  std::string asked;                    ///< the question for the judge
  std::string model;                    ///< of the judge; may be empty
  std::int64_t until_ms = 0;            ///< nothing happens before this time of baton's clock
  std::int64_t waits_since_ms = 0;      ///< start of a long wait; 0: none
  std::int64_t next_wait_event_ms = 0;  ///< when the next event of a long wait is due
  std::string child;                    ///< the loop inside, if its name was computed
  std::string branch;                   ///< for the worktree of the loop inside
  std::string worktree;                 ///< the folder that git makes, absolute; empty: none
  std::string folder;                   ///< where the loop inside works in it; empty: no worktree
  ChildEnd end;                         ///< with `Step::detach`
  bool summary = false;                 ///< one last state runs at a limit; then the loop ends
  std::string limit;                    ///< with `summary`: the limit, as in `terminated_by`
};

/// How the states were judged so far, for `RepeatedFailure`. An outcome is a state with its exit
/// code and verdict, as `STATE EXIT VERDICT`.
struct Outcomes {
  std::string last;
  std::int64_t in_a_row = 0;
  Counts all;  ///< only if the loop looks at them
};

/// One running loop: the flow's own loop, or a loop inside a state of the frame before.
struct Frame {
  Json definition;  ///< from the start of the run; see Loaded::definition
  Record record;    ///< progress; for the first frame it is the state file
  Work work;
  std::int64_t since_ms = 0;     ///< start or last resume, on baton's clock
  Json memory = Json::object();  ///< by state: what its evaluator remembers
  Outcomes outcomes;             ///< since the start or the last resume
};

/// Everything baton remembers of one loop.
struct Memo {
  bool owned = false;  ///< baton has started the loop or taken it over
  std::string start;   ///< `Record::start` of the run that the memo is about
  std::int64_t resumes = 0;
  std::string stage;           ///< the stage of the subject `main`
  bool scope_claimed = false;  ///< the first action has started, so the loop holds its scope
  /// The paths of the scope with links resolved, as they were at the start or the last resume.
  std::vector<std::string> scope;
  std::int64_t stopped_ms = 0;  ///< since when the timeout stands still; 0: it runs
  std::string spawn;  ///< text for the agent that continues after a handoff; empty: no such agent
  RunId spawned;      ///< the run of that agent
  std::string last_run;  ///< the last run of the present state and how it ended; empty: none
  Word stopped_by;       ///< the word of the Situation in which the loop was stopped
  std::string stopper;   ///< the agent whose command stopped the loop; empty: none did
  std::vector<std::string> dealt;  ///< answered requests that the view may still hold
  /// The first frame is the loop of the flow itself. A deque keeps references to frames valid.
  std::deque<Frame> frames;
};

/// The folder in which the last frame works, absolute. Empty: the root.
std::string worktree_of(const Memo& memo);

/// `own`: the state file, as the record of the first frame.
Memo memo_of(const Json& json, const Record& own);
Json json_of(const Memo& memo);

}  // namespace baton::fsm_loop
