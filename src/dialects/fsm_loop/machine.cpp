#include "dialects/fsm_loop/machine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

void EventLog::add(std::string_view event, const Json& payload) {
  add(event, payload, scene_.memo.frames.size() - 1);
}

void EventLog::add(std::string_view event, const Json& payload, std::size_t depth) {
  Json line = Json::object({{"event", event}, {"ts", stamp(scene_.view.wall)}});
  for (const auto& member : payload->GetObject())
    line.set(json::name(member.name), member.value);
  if (depth > 0)
    line.set("depth", static_cast<std::int64_t>(depth));
  line.set("seq", ++scene_.record().seq);
  lines_ += line.dump() + "\n";
}

namespace {

constexpr int kMostMoves = 100;  ///< states without an action may lead round and round
constexpr Millis kBreather{10};
constexpr std::size_t kMostCommand = 131'071;  ///< of one argument, with Linux

}  // namespace

void Machine::run() {
  for (int moves = 0; moves < kMostMoves; ++moves) {
    if (scene_.record().status != Status::running || !step())
      return;
  }
  Work& work = scene_.memo.frames.back().work;
  work.until_ms = (scene_.view.now + kBreather).time_since_epoch().count();
  decision_.wake = scene_.view.now + kBreather;
}

/// Whether anything was done that something more may follow from at once.
bool Machine::step() {
  Frame& frame = scene_.memo.frames.back();
  read(frame);
  if (frame.work.until_ms > scene_.now_ms()) {
    beat(frame);
    const bool beats = frame.work.beat_ms > 0 && frame.work.beat_ms < frame.work.until_ms;
    decision_.wake = Time(Millis(beats ? frame.work.beat_ms : frame.work.until_ms));
    const Millis left(frame.work.until_ms - scene_.now_ms());
    decision_.holds.push_back(
        Hold{"", Subject(kSubject), "backing_off",
             "the loop waits (its backoff, throttle, or a rate limit) and goes on at " +
                 iso_time(scene_.view.wall + left)});
    return false;
  }
  frame.work.waits_since_ms = frame.work.beat_ms = 0;
  switch (frame.work.step) {
    case Step::enter:
      return enter(frame);
    case Step::act:
      return act(frame);
    case Step::judge:
      return judge(frame);
    case Step::child:
      break;
  }
  // The loop inside it is gone from the memory: nobody can say how it ended.
  fault(frame, "the loop inside this state was lost");
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
         std::max<std::int64_t>(0, scene_.clock_ms() - frame.since_ms);
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
  values.env = &scene_.view.env.variables;
  return values;
}

void Machine::stage(const Frame& frame, std::string_view what) {
  std::string word;
  for (const Frame& each : scene_.memo.frames)
    word += (word.empty() ? "" : "/") + each.record.current_state + "#" +
            std::to_string(each.record.iteration);
  word += "/" + std::string(what);
  if (frame.work.tries > 0)
    word += "." + std::to_string(frame.work.tries);
  if (scene_.memo.resumes > 0)
    word += "~" + std::to_string(scene_.memo.resumes);
  scene_.memo.stage = word;
}

// ---- entering -----------------------------------------------------------------------------------

bool Machine::enter(Frame& frame) {
  Record& record = frame.record;
  const LoopState* const state = state_of(frame);
  if (state == nullptr) {
    ends(Status::failed, "error", false,
         "the state " + quoted_word(record.current_state) +
             " is not in the definition; put it there, or begin the loop anew");
    return true;
  }
  if (state->terminal) {
    if (frame.work.summary)
      ends(Status::interrupted, std::string(frame.work.limit), false, {});
    else if (loop_.maintain)
      restart(frame, *state);
    else
      ends(state->failure ? Status::failed : Status::completed, "terminal", state->failure, {});
    return true;
  }
  if (!frame.work.summary &&
      (limited(frame, *state) || (!frame.work.summary && guarded(frame, *state))))
    return true;
  ++record.iteration;
  if (record.current_state == loop_.initial)
    ++record.cycle;
  Json payload = Json::object({{"state", record.current_state}, {"iteration", record.iteration}});
  if (record.passes > 0)
    payload.set("iteration_count", record.passes);
  if (frame.work.limit == kTimeout)
    payload.set("flushed", true);
  events_.add("state_enter", payload);
  record.phase = Phase::entered;
  begin(frame, *state);
  return true;
}

/// A maintained loop begins again instead of ending. Its terminal state is not entered.
void Machine::restart(Frame& frame, const LoopState& terminal) {
  Record& record = frame.record;
  if (loop_.max_passes && record.passes + 1 >= *loop_.max_passes) {
    if (!reached(frame, "max_iterations_reached", loop_.on_max_passes,
                 "max_iterations_reached_summary", record.passes + 1))
      ends(Status::interrupted, "max_iterations_reached", false, {});
    return;
  }
  ++record.passes;
  ++record.iteration;
  Way way = terminal.on_maintain.empty()
                ? Way{Way::Kind::to, loop_.initial, {}, {}}
                : follow(loop_, terminal, terminal.on_maintain, values(frame));
  if (way.kind != Way::Kind::to)
    return ends(Status::failed, "error", false, way.why);
  // Only the limit of steps or passes, or a person, ends it; a loop that never acts must not spin.
  frame.work.until_ms = scene_.now_ms() + std::max(kBreather, loop_.backoff).count();
  move(frame, way.to, {}, "maintain");
}

/// Whether the time is up of the loop on top, or of one around it: that one has to come to its end.
bool Machine::out_of_time() const {
  const auto over = [&](const Frame& each, Millis most) {
    return most > Millis(0) && Millis(elapsed_ms(each)) > most;
  };
  const std::deque<Frame>& frames = scene_.memo.frames;
  return over(frames.back(), loop_.timeout) ||
         std::any_of(frames.begin(), std::prev(frames.end()), [&](const Frame& each) {
           return over(each, loop_of(*each.definition).timeout);
         });
}

/// Whether a limit keeps the next state from being entered.
bool Machine::limited(Frame& frame, const LoopState& state) {
  Record& record = frame.record;
  const std::int64_t max_steps = record.max_steps.value_or(loop_.max_steps);
  const bool modern = loop_.generation == Generation::modern;
  if (record.iteration >= max_steps) {
    const std::string_view word = modern ? "max_steps" : "max_iterations";
    if (!reached(frame, word, loop_.on_max_steps, "max_steps_summary", record.iteration))
      ends(Status::interrupted, word, false, {});
    return true;
  }
  if (!out_of_time())
    return false;
  // The way led there already: what an agent left for the next command is not lost.
  if (modern && record.phase == Phase::routed && record.iteration > 0 && state.action &&
      !state.by_agent()) {
    frame.work.summary = true;
    frame.work.limit = kTimeout;
    return false;
  }
  ends(Status::timed_out, kTimeout, false, {});
  return true;
}

/// The state that is to be run once more at a limit, if there is one.
bool Machine::reached(Frame& frame, std::string_view limit, std::string_view summary_state,
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

/// `max_retries` and `throttle`: another state instead, without executing this one.
bool Machine::guarded(Frame& frame, const LoopState& state) {
  Record& record = frame.record;
  const auto retries = record.retries.find(state.name);
  if (state.retry.max > 0 && retries != record.retries.end() && retries->second > state.retry.max) {
    const Way way = follow(loop_, state, state.retry.exhausted, values(frame));
    events_.add(
        "retry_exhausted",
        Json::object({{"state", state.name}, {"retries", retries->second - 1}, {"next", way.to}}));
    record.retries.erase(retries);
    if (way.kind != Way::Kind::to)
      ends(Status::failed, "error", false, way.why);
    else if (way.to != state.name)
      take_way(record, state.name, way.to);
    return true;
  }
  return state.throttle && throttled(frame, state);
}

bool Machine::throttled(Frame& frame, const LoopState& state) {
  const std::int64_t count = ++frame.record.entries[state.name];
  const Throttle& throttle = *state.throttle;
  Json payload = Json::object({{"state", state.name},
                               {"count", count},
                               {"normal_max", throttle.normal_max},
                               {"warn_max", throttle.warn_max},
                               {"hard_max", throttle.hard_max}});
  if (count <= throttle.hard_max) {
    if (count > throttle.warn_max)
      events_.add("throttle_warn", payload);
    return false;
  }
  const Way way = route_throttled(loop_, state, values(frame));
  // Back to where it must not go is nowhere.
  if (way.kind != Way::Kind::to || way.to == state.name) {
    events_.add("throttle_stop", payload);
    ends(Status::failed, "error", false,
         way.kind != Way::Kind::to
             ? way.why
             : "the state " + quoted_word(state.name) +
                   " was entered more often in a row than its throttle allows");
    return true;
  }
  events_.add("throttle_hard", payload.set("next", way.to));
  move(frame, way.to, {}, {});
  return true;
}

void Machine::begin(Frame& frame, const LoopState& state) {
  const bool summary = frame.work.summary;
  const std::string limit = frame.work.limit;
  frame.work = Work{};
  frame.work.summary = summary;
  frame.work.limit = limit;
  if (!state.loop.empty())
    return begin_child(frame, state);
  if (!state.action)
    return conclude(frame, nullptr);
  auto text = interpolate(*state.action, values(frame));
  if (!text)
    return fault(frame, text.error().message);
  if (text->find('\0') != std::string::npos)
    return fault(frame, "the action has a NUL in it, which no command can have");
  if (!state.by_agent() && text->size() > kMostCommand)
    return fault(frame, "the command has " + std::to_string(text->size()) +
                            " bytes, and no more than " + std::to_string(kMostCommand) +
                            " can be passed to a shell; keep large texts in a file");
  frame.work.action = std::move(*text);
  frame.work.step = Step::act;
  stage(frame, "act");
}

// ---- ending -------------------------------------------------------------------------------------

void Machine::ends(Status status, std::string_view terminated_by, bool failure,
                   const std::string& error) {
  if (scene_.memo.frames.size() > 1)
    end_child(terminated_by, failure, error);
  else
    finish(status, terminated_by, error);
}

void Machine::finish(Status status, std::string_view terminated_by, const std::string& error) {
  scene_.memo.frames.resize(1);
  Frame& frame = scene_.memo.frames.front();
  frame.record.status = status;
  frame.work = Work{};
  completed(frame.record, terminated_by, error);
}

void Machine::stop_clocks() {
  for (Frame& each : scene_.memo.frames) {
    each.record.accumulated_ms = elapsed_ms(each);
    each.since_ms = scene_.now_ms();
  }
}

void Machine::completed(Record& record, std::string_view terminated_by, const std::string& error) {
  record.terminated_by = terminated_by;
  record.error = error;
  stop_clocks();
  Json payload = Json::object({{"final_state", record.current_state},
                               {"iterations", record.iteration},
                               {"terminated_by", terminated_by}});
  if (terminated_by == "terminal")
    payload.set("failure_terminal", record.status == Status::failed);
  if (!error.empty())
    payload.set("error", error);
  events_.add("loop_complete", payload, 0);
  scene_.memo.stage = std::string(record.status_word()) + "#" + std::to_string(record.seq);
}

void Machine::halt(Status status, std::string_view terminated_by, const std::string& error) {
  Record& record = scene_.record();
  record.status = status;
  Frame& top = scene_.memo.frames.back();
  // What was judged goes on with the judge: its action has ended. All else is entered again.
  if (top.work.step != Step::judge)
    top.work = Work{};
  top.work.announced.clear();
  // By the definition of then; a resume reads it anew.
  top.work.asked.clear();
  completed(record, terminated_by, error);
}

void Machine::go_on(bool from_handoff) {
  Record& record = scene_.record();
  // Not with the state that was run at the limit instead, however far that had come.
  if (!record.limited_state.empty()) {
    scene_.memo.frames.resize(1);
    scene_.memo.frames.front().work = Work{};
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
  record.resumed_at = stamp(scene_.view.wall);
  ++record.resume_count;
  for (Frame& each : scene_.memo.frames)
    each.since_ms = scene_.now_ms();
  scene_.memo.spawn.clear();
  scene_.memo.spawned.clear();
  events_.add("loop_resume", payload, 0);
  const Frame& top = scene_.memo.frames.back();
  stage(top, kStep.at(static_cast<std::size_t>(top.work.step)).word);
}

void Machine::take_up(Retraced retraced) {
  Frame& frame = scene_.memo.frames.back();
  if (!retraced.result && !retraced.verdict)
    return;
  read(frame);
  frame.work.action = std::move(retraced.action);
  frame.work.result = std::move(retraced.result);
  if (retraced.verdict)
    decide_by(frame, *retraced.verdict);
  else
    conclude(frame, nullptr);
}

}  // namespace baton::fsm_loop
