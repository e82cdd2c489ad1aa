#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/output_signals.h"
#include "dialects/fsm_loop/record.h"
#include "dialects/fsm_loop/snapshot.h"
#include "dialects/fsm_loop/transition.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

inline constexpr std::size_t kPreview = 2000;   ///< bytes of output in an event, the last ones
inline constexpr std::size_t kMostLines = 500;  ///< of an action, each an event, the last ones

/// The lines that are to be added to the event file in one write.
class EventLog {
 public:
  explicit EventLog(Scene& scene) : scene_(scene) {}

  /// One line: `event` and `ts`, the payload, and a running number that no other line of this run
  /// has. Of a loop inside another `depth` says how deep it is.
  void add(std::string_view event, const Json& payload);
  void add(std::string_view event, const Json& payload, std::size_t depth);
  const std::string& lines() const { return lines_; }

 private:
  Scene& scene_;
  std::string lines_;
};

/// Where a loop stands that no journal knows: by its state file, and by the lines of its event file
/// that came after what the state says. An action whose end is recorded there is not repeated.
struct Retraced {
  Record record;
  std::string action;                  ///< of the present entry, as it was carried out
  std::optional<ActionResult> result;  ///< its end is recorded, and no way on from it
  std::optional<Verdict> verdict;      ///< and so is what it was judged to be
  std::string lost;                    ///< why it cannot be gone on from there; empty: it can
};

/// `events`: an array of lines, the last ones of the file; nullptr: there is none. A state of
/// another program is only looked beyond while it says running: at an end it was written last.
Retraced retrace(const Loop& loop, Record record, const Value* events);

/// The execution cycle. One entry of a state goes
///
///   enter -> act -> (judge) -> verdict, way -> enter the next one
///
/// and what takes time (an action, a judge, a wait) is asked for in the decision; the rest happens
/// at once. `enter` looks first whether the loop ends: at a terminal state, a limit, its timeout.
/// A loop inside a state is a frame of its own on top; its end is the result of that state.
class Machine {
 public:
  Machine(Scene& scene, EventLog& events, Decision& decision)
      : scene_(scene), events_(events), decision_(decision) {}

  /// Goes on as far as it can.
  void run();
  /// The loop has ended: what is running in it counts no more. The event of its end included.
  void finish(Status status, std::string_view terminated_by, const std::string& error = {});
  /// It is stopped where it stands and can be resumed from there, also within a loop inside it.
  void halt(Status status, std::string_view terminated_by, const std::string& error = {});
  /// Goes on after `halt`, a limit, a handoff, or where another program left it.
  void go_on(bool from_handoff);
  /// And there, with what its event file knows of the present entry.
  void take_up(Retraced retraced);

 private:
  bool step();
  bool enter(Frame& frame);
  bool limited(Frame& frame, const LoopState& state);
  bool out_of_time() const;
  bool reached(Frame& frame, std::string_view limit, std::string_view summary_state,
               std::string_view event, std::int64_t count);
  bool guarded(Frame& frame, const LoopState& state);
  bool throttled(Frame& frame, const LoopState& state);
  void begin(Frame& frame, const LoopState& state);
  bool act(Frame& frame);
  bool judge(Frame& frame);
  void acted(Frame& frame, ActionResult result);
  bool keep(Frame& frame, const std::string& name, const Json& value);
  bool keep_result(Frame& frame, ActionResult result);
  bool turned_away(Frame& frame, const ActionResult& result);
  void not_carried_out(Frame& frame, const ActionResult& result);
  bool waits(Frame& frame, const ActionResult& result);
  bool wait_for_room(Frame& frame, const ActionResult& result);
  bool try_again(Frame& frame, Failure failure);
  void beat(Frame& frame);
  void tell_wait(const Frame& frame, const Waited& waited, bool long_tier);
  void conclude(Frame& frame, const ActionResult* side);
  void time_is_up(Frame& frame, const ActionResult* action);
  void decide_by(Frame& frame, const Verdict& verdict);
  void take(Frame& frame, const Way& way, const std::string& verdict);
  bool signalled(Frame& frame);
  void hand_over(Frame& frame, const std::string& text);
  void fault(Frame& frame, const std::string& why);
  void move(Frame& frame, const std::string& to, const std::string& verdict,
            const std::string& reason);
  void restart(Frame& frame, const LoopState& terminal);
  void begin_child(Frame& frame, const LoopState& state);
  void end_child(std::string_view terminated_by, bool failure, const std::string& error);
  void stop_clocks();
  void completed(Record& record, std::string_view terminated_by, const std::string& error);
  void ends(Status status, std::string_view terminated_by, bool failure, const std::string& error);

  void read(const Frame& frame);
  const Run* run_of(const Role& role, std::uint32_t& turn) const;
  std::optional<ActionResult> desired(Frame& frame, Desired wanted);
  void announce(Frame& frame, const Run& run);
  Desired action_of(const Frame& frame, const LoopState& state) const;
  void stage(const Frame& frame, std::string_view what);
  const LoopState* state_of(const Frame& frame) const;
  std::int64_t elapsed_ms(const Frame& frame) const;
  Values values(const Frame& frame) const;

  Scene& scene_;
  EventLog& events_;
  Decision& decision_;
  // Of the topmost frame, and the one its values are read from.
  Loop loop_;
  Json context_;
  bool paused_ = false;
};

}  // namespace baton::fsm_loop
