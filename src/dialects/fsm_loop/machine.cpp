// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/machine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "dialects/findings.h"
#include "dialects/fsm_loop/conditions.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

void EventLog::add(std::string_view event, const Json& payload) {
  add(event, payload, snapshot_.memo.frames.size() - 1);
}

void EventLog::add(std::string_view event, const Json& payload, std::size_t depth) {
  Json line = Json::object({{"event", event}, {"ts", stamp(snapshot_.view.wall)}});
  for (const auto& member : payload->GetObject())
    line.set(json::name(member.name), member.value);
  if (depth > 0)
    line.set("depth", static_cast<std::int64_t>(depth));
  line.set("seq", ++snapshot_.record().seq);
  lines_ += line.dump() + "\n";
}

namespace {

constexpr int kMostMoves = 100;  ///< steps in one decision; a loop may have no actions
constexpr std::size_t kMostCommand = 131'071;  ///< bytes: Linux's limit for one argument

}  // namespace

void Machine::run() {
  for (int moves = 0; moves < kMostMoves; ++moves) {
    if (snapshot_.record().status != Status::running || !step())
      return;
  }
  Work& work = snapshot_.memo.frames.back().work;
  work.until_ms = (snapshot_.view.now + kBreather).time_since_epoch().count();
  decision_.wake = snapshot_.view.now + kBreather;
}

/// Does one step. True if something changed, so that the next step can follow at once.
bool Machine::step() {
  Frame& frame = snapshot_.memo.frames.back();
  read(frame);
  if (frame.work.until_ms > snapshot_.now_ms()) {
    report_long_wait(frame);
    const bool beats =
        frame.work.next_wait_event_ms > 0 && frame.work.next_wait_event_ms < frame.work.until_ms;
    decision_.wake = Time(Millis(beats ? frame.work.next_wait_event_ms : frame.work.until_ms));
    const Millis left(frame.work.until_ms - snapshot_.now_ms());
    const bool limited = frame.work.waits_since_ms > 0 || frame.work.tries > 0;
    decision_.holds.push_back(Hold{
        "", Subject(kSubject), cause_of(Situation::pausing),
        (limited ? "the service of the agent failed or limits its rate; the loop tries again at "
                 : "the loop pauses between two states until ") +
            iso_time(snapshot_.view.wall + left),
        "", Time(Millis(frame.work.until_ms))});
    return false;
  }
  frame.work.waits_since_ms = frame.work.next_wait_event_ms = 0;
  // If the definition does not have the state any more, `enter` reports it.
  if (state_of(frame) == nullptr && frame.work.step != Step::detach)
    frame.work.step = Step::enter;
  switch (frame.work.step) {
    case Step::enter:
      return enter(frame);
    case Step::act:
      return run_action(frame);
    case Step::judge:
      return ask_judge(frame);
    case Step::child:
      if (frame.work.child.empty())
        break;
      begin_child(frame, *state_of(frame));
      return true;
    case Step::attach:
      return attach_worktree(frame);
    case Step::detach:
      return detach_worktree(frame);
  }
  // The memo has lost the frame of the loop inside, so the result of that loop is unknown.
  fault(frame, "the loop inside this state is not known any more");
  return true;
}

void Machine::read(const Frame& frame) {
  loop_ = loop_of(*frame.definition);
  context_ = merged(*loop_.context, *frame.record.context);
}

const LoopState* Machine::state_of(const Frame& frame) const {
  return loop_.state(frame.record.current_state);
}

std::int64_t Machine::elapsed_ms(const Frame& frame) const {
  return frame.record.accumulated_ms +
         std::max<std::int64_t>(0, snapshot_.clock_ms() - frame.since_ms);
}

Values Machine::values(const Frame& frame) const {
  const Record& record = frame.record;
  const LoopState* const state = state_of(frame);
  Values values;
  values.context = &*context_;
  values.captured = &*record.captured;
  values.prev = record.prev_result.is_null() ? nullptr : &*record.prev_result;
  values.last = record.last_result.is_null() ? nullptr : &*record.last_result;
  values.param = state == nullptr || state->param.is_null() ? nullptr : &*state->param;
  values.state = record.current_state;
  values.iteration = record.iteration;
  values.loop = record.loop_name;
  values.started_at = record.started_at;
  values.continuation = record.continuation_prompt;
  values.elapsed_ms = elapsed_ms(frame);
  values.messages = record.messages;
  values.env = &snapshot_.view.env.variables;
  return values;
}

void Machine::stage(const Frame& frame, std::string_view what) {
  std::string word;
  for (const Frame& each : snapshot_.memo.frames)
    word += (word.empty() ? "" : "/") + each.record.current_state + "#" +
            std::to_string(each.record.iteration);
  word += "/" + std::string(what);
  if (frame.work.tries > 0)
    word += "." + std::to_string(frame.work.tries);
  if (snapshot_.memo.resumes > 0)
    word += "~" + std::to_string(snapshot_.memo.resumes);
  snapshot_.memo.stage = word;
}

// ---- entering -----------------------------------------------------------------------------------

bool Machine::enter(Frame& frame) {
  Record& record = frame.record;
  const LoopState* const state = state_of(frame);
  if (state == nullptr) {
    end(Status::failed, "error", false,
        "the state " + quoted_word(record.current_state) +
            " is not in the definition; add it, or start a new run");
    return true;
  }
  if (state->terminal && !frame.work.summary) {
    if (loop_.maintain)
      restart(frame, *state);
    else
      end(state->failure ? Status::failed : Status::completed, "terminal", state->failure, {});
    return true;
  }
  if (!frame.work.summary && (stopped_by_limit(frame) || out_of_retries(frame, *state)))
    return true;
  ++record.iteration;
  if (record.current_state == loop_.initial)
    ++record.cycle;
  Json payload = Json::object({{"state", record.current_state}, {"iteration", record.iteration}});
  if (record.passes > 0)
    payload.set("iteration_count", record.passes);
  events_.add("state_enter", payload);
  record.phase = Phase::entered;
  begin_state(frame, *state);
  return true;
}

/// Starts a loop with `maintain` again instead of entering its terminal state.
void Machine::restart(Frame& frame, const LoopState& terminal) {
  Record& record = frame.record;
  ++record.passes;
  ++record.iteration;
  Transition transition =
      terminal.on_maintain.empty()
          ? Transition{Transition::Kind::to, loop_.initial, {}, {}}
          : resolve_target(loop_, terminal, terminal.on_maintain, values(frame));
  if (transition.kind != Transition::Kind::to)
    return end(Status::failed, "error", false, transition.why);
  // A pause, so that a loop without actions does not use up the processor.
  if (!loop_.max_passes || record.passes < *loop_.max_passes)
    frame.work.until_ms = snapshot_.now_ms() + std::max(kBreather, loop_.backoff).count();
  move(frame, transition.to, {}, "maintain");
}

/// Whether the timeout is over: that of the last frame, or of a loop around it.
bool Machine::out_of_time() const {
  const auto over = [&](const Frame& each, Millis most) {
    return most > Millis(0) && Millis(elapsed_ms(each)) > most;
  };
  const std::deque<Frame>& frames = snapshot_.memo.frames;
  return over(frames.back(), loop_.timeout) ||
         std::any_of(frames.begin(), std::prev(frames.end()), [&](const Frame& each) {
           return over(each, loop_of(*each.definition).timeout);
         });
}

/// Whether a limit keeps the loop from entering the next state. If so, it handles the limit.
bool Machine::stopped_by_limit(Frame& frame) {
  Record& record = frame.record;
  const std::int64_t max_steps = record.max_steps.value_or(loop_.max_steps);
  if (record.iteration >= max_steps) {
    const std::string_view word =
        loop_.generation == Generation::modern ? "max_steps" : "max_iterations";
    if (!begin_summary(frame, word, loop_.on_max_steps, "max_steps_summary", record.iteration))
      end(Status::interrupted, word, false, {});
    return true;
  }
  if (loop_.max_passes && record.passes >= *loop_.max_passes) {
    if (!begin_summary(frame, "max_iterations_reached", loop_.on_max_passes,
                       "max_iterations_reached_summary", record.passes))
      end(Status::interrupted, "max_iterations_reached", false, {});
    return true;
  }
  if (!out_of_time())
    return false;
  end(Status::timed_out, "timeout", false, {});
  return true;
}

/// Enters the summary state of a limit. False if there is none.
bool Machine::begin_summary(Frame& frame, std::string_view limit, std::string_view summary_state,
                            std::string_view event, std::int64_t count) {
  if (summary_state.empty() || loop_.state(summary_state) == nullptr)
    return false;
  const bool passes = limit == "max_iterations_reached";
  events_.add(event, Json::object({{"summary_state", summary_state},
                                   {passes ? "iteration_count" : "iterations", count}}));
  frame.work = Work{};
  frame.work.summary = true;
  frame.work.limit = limit;
  frame.record.limited_state = std::exchange(frame.record.current_state, summary_state);
  return true;
}

void Machine::begin_state(Frame& frame, const LoopState& state) {
  const bool summary = frame.work.summary;
  const std::string limit = frame.work.limit;
  frame.work = Work{};
  frame.work.summary = summary;
  frame.work.limit = limit;
  snapshot_.memo.last_run.clear();
  if (!state.unsupported.empty())
    return fault(frame, "baton does not carry out " + state.unsupported);
  if (!state.loop.empty())
    return begin_child(frame, state);
  if (!state.action)
    return conclude(frame, nullptr);
  auto text = interpolate(*state.action, values(frame));
  if (!text)
    return fault(frame, text.error().message);
  if (text->find('\0') != std::string::npos)
    return fault(frame, "the action contains a NUL character, which no command can have");
  if (!state.by_agent() && text->size() > kMostCommand)
    return fault(frame, "the command has " + std::to_string(text->size()) + " bytes, but at most " +
                            std::to_string(kMostCommand) +
                            " can be passed to a shell; put large texts into a file");
  frame.work.action = std::move(*text);
  frame.work.step = Step::act;
  stage(frame, "act");
}

// ---- ending -------------------------------------------------------------------------------------

void Machine::end(Status status, std::string_view terminated_by, bool failure,
                  const std::string& error) {
  if (snapshot_.memo.frames.size() > 1)
    end_child(terminated_by, failure, error);
  else
    finish(status, terminated_by, error);
}

void Machine::finish(Status status, std::string_view terminated_by, const std::string& error) {
  snapshot_.memo.frames.resize(1);
  Frame& frame = snapshot_.memo.frames.front();
  frame.record.status = status;
  frame.record.continuation_prompt.clear();
  frame.work = Work{};
  add_completed(frame.record, terminated_by, error);
}

void Machine::stop_clocks() {
  for (Frame& each : snapshot_.memo.frames) {
    each.record.accumulated_ms = elapsed_ms(each);
    each.since_ms = snapshot_.now_ms();
  }
}

void Machine::add_completed(Record& record, std::string_view terminated_by,
                            const std::string& error) {
  record.terminated_by = terminated_by;
  record.error = error;
  stop_clocks();
  Json payload = Json::object({{"final_state", record.current_state},
                               {"iterations", record.iteration},
                               {"terminated_by", terminated_by}});
  payload.set("failure_terminal", terminated_by == "terminal" && record.status == Status::failed);
  if (!error.empty())
    payload.set("error", error);
  events_.add("loop_complete", payload, 0);
  snapshot_.memo.stage = std::string(record.status_word()) + "#" + std::to_string(record.seq);
}

void Machine::halt(Status status, std::string_view terminated_by, const std::string& error) {
  Record& record = snapshot_.record();
  record.status = status;
  Frame& top = snapshot_.memo.frames.back();
  // After a resume an action that has ended does not run again, and git is asked again. All other
  // work begins anew.
  if (top.work.step == Step::enter || top.work.step == Step::act || top.work.step == Step::child)
    top.work = Work{};
  top.work.announced.clear();
  // The question belongs to the old definition, so a resume builds it again.
  top.work.asked.clear();
  add_completed(record, terminated_by, error);
}

void Machine::resume_loop(bool from_handoff) {
  Record& record = snapshot_.record();
  // Continues with the state that the limit has replaced by its summary state.
  if (!record.limited_state.empty()) {
    snapshot_.memo.frames.resize(1);
    snapshot_.memo.frames.front().work = Work{};
    record.current_state = std::exchange(record.limited_state, {});
    record.phase = Phase::routed;
  }
  Json payload = Json::object({{"loop", record.loop_name},
                               {"from_state", record.current_state},
                               {"iteration", record.iteration}});
  if (from_handoff)
    payload.set("from_handoff", true).set("continuation_prompt", record.continuation_prompt);
  record.status = Status::running;
  record.terminated_by.clear();
  record.error.clear();
  record.resumed_at = stamp(snapshot_.view.wall);
  ++record.resume_count;
  for (Frame& each : snapshot_.memo.frames) {
    each.since_ms = snapshot_.now_ms();
    each.outcomes = Outcomes{};
  }
  snapshot_.memo.spawn.clear();
  snapshot_.memo.spawned.clear();
  snapshot_.memo.last_run.clear();
  snapshot_.memo.stopped_by.clear();
  snapshot_.memo.stopper.clear();
  events_.add("loop_resume", payload, 0);
  const Frame& top = snapshot_.memo.frames.back();
  stage(top, kStep.at(static_cast<std::size_t>(top.work.step)).word);
}

}  // namespace baton::fsm_loop
