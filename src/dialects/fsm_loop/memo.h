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

/// What is being done in the state that a loop has entered.
enum class Step {
  enter,  ///< the next state is to be entered
  act,    ///< its action runs
  judge,  ///< what is asked for a verdict runs
  child,  ///< another loop runs in it: the frame above
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

/// The limit by which a command that is due already may run once more.
inline constexpr std::string_view kTimeout = "timeout";

/// The work in the present entry of a state.
struct Work {
  Step step = Step::enter;
  std::string action;                  ///< the text that is carried out, placeholders filled in
  std::int64_t tries = 0;              ///< of the action in this entry, when it waits in place
  std::int64_t api_tries = 0;          ///< of those, the ones after an error of a server
  std::int64_t infra_tries = 0;        ///< and the ones after its end was cut off
  RunId announced;                     ///< the run that action_start stands for
  std::optional<ActionResult> result;  ///< of the action, when it has ended
  std::string asked;                   ///< of the judge; what it is to be told
  /// The result before this one, where this one stands in its place already.
  std::optional<Json> previous;
  std::string model;                ///< for the judge; may be empty
  std::int64_t until_ms = 0;        ///< on baton's clock: nothing goes on before
  std::int64_t waits_since_ms = 0;  ///< of a long wait: since when; 0: it is none
  std::int64_t beat_ms = 0;         ///< of a long wait: when the next sign of life is due
  bool summary = false;             ///< the one state more at a limit; then it ends
  std::string limit;                ///< with `summary`: which limit, as terminated_by says
};

/// One loop that runs: the flow's own, or one inside a state of the frame below.
struct Frame {
  Json definition;  ///< as it was put together when it began; see library.h
  Record record;    ///< of the flow's own loop the state file has it
  Work work;
  std::int64_t since_ms = 0;     ///< on baton's clock: begun or resumed
  Json memory = Json::object();  ///< by state: what its evaluator keeps
};

/// The dialect's private memory of a loop; journalled.
struct Memo {
  bool driven = false;  ///< begun or taken over by baton; else somebody else's, only looked at
  std::string start;    ///< Record::start of the run it is about
  std::int64_t resumes = 0;
  std::string stage;    ///< of the subject `main`
  bool scoped = false;  ///< its scope is claimed: its first action was let go
  /// The paths of its scope, without links, as they were when it began or was resumed.
  std::vector<std::string> scope;
  std::int64_t stopped_ms = 0;  ///< since when its timeout does not count; 0: it counts
  std::string spawn;  ///< what an agent is to be told that goes on after a handoff; empty: none
  RunId spawned;      ///< that agent
  std::vector<std::string> dealt;  ///< requests that were answered and are not yet gone
  std::deque<Frame> frames;        ///< a frame stays where it is while others are put on top
};

/// `own`: what the state file says, for the lowest frame.
Memo memo_of(const Json& json, const Record& own);
Json json_of(const Memo& memo);

}  // namespace baton::fsm_loop
