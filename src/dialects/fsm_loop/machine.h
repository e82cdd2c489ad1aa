// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/memo.h"
#include "dialects/fsm_loop/snapshot.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

// What the output of an action tells: marker lines for the loop, rate limits and server errors of
// the agent's service.

/// What an action asks of its loop by a line of its output.
struct Signal {
  enum class Kind { none, handoff, error, stop };
  Kind kind = Kind::none;
  std::string text;  ///< rest of the line, trimmed
  bool operator==(const Signal&) const = default;
};

/// Finds `CONTEXT_HANDOFF: TEXT`, `FATAL_ERROR: TEXT` or `LOOP_STOP: [TEXT]` at the beginning of a
/// line, after blanks. The last such line counts. With `anywhere` the marker may also stand within
/// a line, as in the original. Then an agent that quotes its instructions triggers it.
Signal signal_in(std::string_view output, bool anywhere);

/// Why an action failed, as far as its output shows it (version 1.10 of the original).
enum class Failure {
  ordinary,
  rate_limit,  ///< worth waiting for
  server,      ///< an error of the service behind the agent: retry soon
  cut_off,     ///< SIGTERM ended it after it had printed something: retry soon
  refused,     ///< not authorised: a retry does not help
};
/// `ordinary` also for an action that succeeded, did not run or ran out of time, whatever it
/// printed. `by_agent`: only lines that report an error count, because agents also write about
/// errors.
Failure failure_of(const ActionResult& action, bool by_agent = false);

/// The word for why an action failed, for captures: real, transient, infra_retry or
/// non_recoverable; empty: it did not fail. The words that make a failure transient are those of
/// version 1.156 of the original.
std::string_view failure_type(const ActionResult& action);

/// How long a state has waited so far: `rate_limit_retries` of the state file.
struct Waited {
  std::int64_t short_retries = 0;
  std::int64_t long_retries = 0;
  std::int64_t total_seconds = 0;
  std::string first_seen_at;
};
Waited waited_of(const Value* entry);
Json json_of(const Waited& waited);

/// How long to wait now, and in which tier. Empty if all retries are used up. `salt` spreads the
/// waits of loops that were rejected at the same time.
struct Wait {
  Millis time{0};
  bool long_tier = false;
};
std::optional<Wait> next_wait(const RateLimit& limit, const Waited& waited, std::string_view salt);

/// Between two decisions of a loop that has nothing to wait for.
inline constexpr Millis kBreather{10};

// Executes a loop. Work that takes time (an action, a judge, a wait) becomes part of the decision.
// Everything else happens at once. The sources: machine.cpp (entering and ending), run_action.cpp
// (actions, verdicts), retry_wait.cpp (rate limits), repetition.cpp (the guards against going
// round), sub_loop.cpp (a loop inside a state), worktree.cpp (its git worktree).

/// Collects lines for the event file. baton appends them in one write.
class EventLog {
 public:
  explicit EventLog(Snapshot& snapshot) : snapshot_(snapshot) {}

  /// Adds one line with `event`, `ts`, the payload and `seq`. No other line of this run has the
  /// same `seq`. `depth` is above 0 for a loop inside another one.
  void add(std::string_view event, const Json& payload);
  void add(std::string_view event, const Json& payload, std::size_t depth);
  const std::string& lines() const { return lines_; }

 private:
  Snapshot& snapshot_;
  std::string lines_;
};

/// One entry of a state: enter -> act -> (judge) -> verdict -> transition -> enter the next state.
/// `enter` first checks whether the loop ends: at a terminal state, a limit or the timeout. A loop
/// inside a state is one more frame. The end of that loop is the result of the state.
class Machine {
 public:
  Machine(Snapshot& snapshot, EventLog& events, Decision& decision)
      : snapshot_(snapshot), events_(events), decision_(decision) {}

  /// Runs the loop until it has to wait for something.
  void run();
  /// Ends the loop: drops the work in progress and logs `loop_complete`.
  void finish(Status status, std::string_view terminated_by, const std::string& error = {});
  /// Stops the loop where it is, even inside a loop within it, so that it can be resumed there.
  void halt(Status status, std::string_view terminated_by, const std::string& error = {});
  /// Continues after `halt`, a limit or a handoff, or where another program left the loop.
  void resume_loop(bool from_handoff);

 private:
  bool step();
  bool enter(Frame& frame);
  bool stopped_by_limit(Frame& frame);
  bool out_of_time() const;
  bool begin_summary(Frame& frame, std::string_view limit, std::string_view summary_state,
                     std::string_view event, std::int64_t count);
  bool out_of_retries(Frame& frame, const LoopState& state);
  bool throttled(Frame& frame, const LoopState& state);
  std::optional<Transition> stalled(Frame& frame, const LoopState& state,
                                    const std::string& verdict);
  void begin_state(Frame& frame, const LoopState& state);
  bool run_action(Frame& frame);
  bool by_own_keys(const Frame& frame, const Run& run) const;
  bool ask_judge(Frame& frame);
  void action_ended(Frame& frame, ActionResult result);
  bool add_capture(Frame& frame, const std::string& name, const Json& value);
  bool store_result(Frame& frame, ActionResult result);
  bool store_failed_result(Frame& frame, const ActionResult& result);
  void action_not_run(Frame& frame, const ActionResult& result);
  bool retries_later(Frame& frame, const ActionResult& result);
  bool wait_for_rate_limit(Frame& frame, const ActionResult& result);
  bool retry_soon(Frame& frame, Failure failure);
  void report_long_wait(Frame& frame);
  void add_wait_event(const Frame& frame, const Waited& waited, bool long_tier);
  Judging judging(const Frame& frame, const Values& values, const ActionResult* side) const;
  void conclude(Frame& frame, const ActionResult* side);
  void apply_verdict(Frame& frame, const Verdict& verdict);
  void apply(Frame& frame, const Transition& transition, const std::string& verdict);
  bool handle_signal(Frame& frame, const Transition* next, const std::string& verdict);
  void handle_handoff(Frame& frame, const std::string& text);
  void fault(Frame& frame, const std::string& why);
  void move(Frame& frame, const std::string& to, const std::string& verdict,
            const std::string& reason);
  void restart(Frame& frame, const LoopState& terminal);
  void begin_child(Frame& frame, const LoopState& state);
  void wait_for_files(Frame& frame);
  void end_child(std::string_view terminated_by, bool failure, const std::string& error);
  void join_child(const ChildEnd& end);
  bool has_worktree(Frame& frame, const LoopState& state);
  std::optional<ActionResult> run_git(Frame& frame, std::string_view script, const Work& work);
  bool attach_worktree(Frame& frame);
  bool detach_worktree(Frame& frame);
  void stop_clocks();
  void add_completed(Record& record, std::string_view terminated_by, const std::string& error);
  void end(Status status, std::string_view terminated_by, bool failure, const std::string& error);

  void read(const Frame& frame);
  const Run* run_of(const Role& role, std::uint32_t& turn) const;
  std::optional<ActionResult> desired(Frame& frame, Desired wanted);
  void report_start(Frame& frame, const Run& run);
  Desired action_of(const Frame& frame, const LoopState& state) const;
  void stage(const Frame& frame, std::string_view what);
  const LoopState* state_of(const Frame& frame) const;
  std::int64_t elapsed_ms(const Frame& frame) const;
  Values values(const Frame& frame) const;

  Snapshot& snapshot_;
  EventLog& events_;
  Decision& decision_;
  // The loop and the context of the last frame. Placeholders read `context_`.
  Loop loop_;
  Json context_;
};

}  // namespace baton::fsm_loop
