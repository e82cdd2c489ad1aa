#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"
#include "dialects/fsm_loop/record.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

// What baton remembers of a loop beside its state file. It is part of the journal and commits
// together with the state file. The names of its members in JSON never change.

/// What happens now in the state that a loop has entered.
enum class Step {
  enter,  ///< the next state has to be entered
  act,    ///< its action runs
  judge,  ///< a judge or `git diff` runs, which the verdict needs
  child,  ///< another loop runs in it: the next frame
};
struct StepRow {
  std::string_view word;
  Step step;
};
inline constexpr std::array kStep = {
    StepRow{"enter", Step::enter},
    StepRow{"act", Step::act},
    StepRow{"judge", Step::judge},
    StepRow{"child", Step::child},
};
static_assert(in_enum_order(kStep, &StepRow::step, Step::child));
constexpr const auto& word_table(Step /*step*/) {
  return kStep;
}

/// The name of the limit after which one due shell command may still run.
inline constexpr std::string_view kTimeout = "timeout";

/// The work in the present entry of a state.
struct Work {
  Step step = Step::enter;
  std::string action;                  ///< the text to run, placeholders filled in
  std::int64_t tries = 0;              ///< retries of the action in this entry
  std::int64_t api_tries = 0;          ///< of those, after an error of a server
  std::int64_t infra_tries = 0;        ///< of those, after SIGTERM ended it
  RunId announced;                     ///< the run for which `action_start` was logged
  std::optional<ActionResult> result;  ///< of the action, once it has ended
  std::string asked;                   ///< the question for the judge
  /// The earlier `prev_result`, while this action's result is already in its place: a list of one,
  /// for it may be null. Null: none.
  Json previous;
  std::string model;                    ///< of the judge; may be empty
  std::int64_t until_ms = 0;            ///< nothing happens before this time of baton's clock
  std::int64_t waits_since_ms = 0;      ///< start of a long wait; 0: none
  std::int64_t next_wait_event_ms = 0;  ///< when the next event of a long wait is due
  bool summary = false;                 ///< one last state runs at a limit; then the loop ends
  std::string limit;                    ///< with `summary`: the limit, as in `terminated_by`
};

/// One running loop: the flow's own, or one inside a state of the frame before.
struct Frame {
  Json definition;  ///< as it was when the run started; see library.h
  Record record;    ///< progress; for the first frame the state file has it
  Work work;
  std::int64_t since_ms = 0;     ///< start or last resume, on baton's clock
  Json memory = Json::object();  ///< by state: what its evaluator remembers
};

/// Everything baton remembers of one loop.
struct Memo {
  bool owned = false;  ///< baton started the loop or took it over
  std::string start;   ///< `Record::start` of the run that this is about
  std::int64_t resumes = 0;
  std::string stage;           ///< of the subject `main`
  bool scope_claimed = false;  ///< the first action was started, so the scope is held
  /// The paths of the scope with links resolved, as they were at the start or the last resume.
  std::vector<std::string> scope;
  std::int64_t stopped_ms = 0;  ///< since when the timeout does not count; 0: it counts
  std::string spawn;            ///< what the agent after a handoff is told; empty: none is wanted
  RunId spawned;                ///< the run of that agent
  std::vector<std::string> dealt;  ///< answered requests that the view may still hold
  /// the first one is the flow's own loop. A deque: references to frames stay valid
  std::deque<Frame> frames;
};

/// `own`: what the state file says, for the first frame.
Memo memo_of(const Json& json, const Record& own);
Json json_of(const Memo& memo);

}  // namespace baton::fsm_loop
