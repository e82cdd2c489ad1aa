// SPDX-License-Identifier: Apache-2.0

// The part of the machine that runs the action of a state, evaluates it and moves on.

#include <algorithm>

#include "base/text.h"
#include "core/run_text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/conditions.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/fsm_loop/shell_access.h"

namespace baton::fsm_loop {

namespace {

constexpr std::size_t kPreview = 2000;   ///< last bytes of an output, for an event
constexpr std::size_t kMostLines = 500;  ///< last lines of an output, one event each
constexpr int kTimedOut = 124;
constexpr int kExitNotFound = 127;
constexpr int kKilled = -9;
constexpr int kFailed = 1;
constexpr std::string_view kThrottled = "throttle";  // see ErrorClass

/// The end of an output; null if the output is empty.
Json preview(const std::string& text) {
  return text.empty() ? Json() : Json(last_bytes(text, kPreview));
}

/// The result of a run, with an exit code as in a shell: 124 after a timeout, 127 if the program
/// did not run. After a signal it is negative.
ActionResult result_of(const Run& run) {
  ActionResult result;
  result.output = run.output;
  result.error_output = run.errors;
  result.duration_ms = run.duration.count();
  if (run.outcome == Outcome::timed_out || run.outcome == Outcome::stalled) {
    result.exit_code = kTimedOut;
    result.timeout_kind = run.outcome == Outcome::timed_out ? "wall" : "idle";
  } else if (run.reason == "exec_failed" || run.reason.starts_with("before_")) {
    result.exit_code = kExitNotFound;
    result.not_run = run.reason;
  } else if (run.signal != 0) {
    result.exit_code = -run.signal;
  } else if (run.outcome != Outcome::succeeded && run.exit_code == 0) {
    result.exit_code = kFailed;  // its program reports a failure, and ends with 0 all the same
  } else {
    // The shim died together with the action, so the exit code is unknown.
    result.exit_code = run.exit_code.value_or(run.outcome == Outcome::succeeded ? 0 : kKilled);
  }
  return result;
}

/// `run 1a2b3c4d: failed (exit_1), "no such file"`
std::string named(const Run& run) {
  const std::string said = last_words(run);
  return run_name(run) + ": " + outcome_text(run) + (said.empty() ? "" : ", " + said);
}

/// The last lines of an output, without blanks at their ends.
std::vector<std::string> last_lines(const std::string& output) {
  std::vector<std::string> lines = split(output, '\n');
  if (!lines.empty() && lines.back().empty())
    lines.pop_back();
  if (lines.size() > kMostLines)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMostLines));
  for (std::string& line : lines)
    line.erase(line.find_last_not_of(" \t\r") + 1);
  return lines;
}

}  // namespace

/// The newest run for this role in this stage. It raises `turn` if an interrupted action may be
/// repeated.
const Run* Machine::run_of(const Role& role, std::uint32_t& turn) const {
  const std::uint64_t generation = snapshot_.view.stages.at(Subject(kSubject)).generation;
  const LoopState* const state = loop_.state(snapshot_.memo.frames.back().record.current_state);
  const bool repeat = state != nullptr && state->idempotent;
  const Run* newest = nullptr;
  for (const Run& run : snapshot_.view.runs) {
    if (run.key.subject != kSubject || run.key.role != role || run.key.generation != generation)
      continue;
    if (repeat && run.outcome == Outcome::interrupted && !run.forgiven)
      turn = std::max(turn, run.key.turn + 1);
    newest = &run;
  }
  return newest != nullptr && newest->key.turn == turn ? newest : nullptr;
}

/// Asks for a run in the present stage. Returns its result once it has ended or cannot start.
std::optional<ActionResult> Machine::desired(Frame& frame, Desired wanted) {
  const auto now = snapshot_.view.stages.find(Subject(kSubject));
  // The new stage takes effect after this decision. The next decision asks again.
  if (now == snapshot_.view.stages.end() || now->second.stage != snapshot_.memo.stage)
    return std::nullopt;
  for (const Run& run : snapshot_.view.runs)
    if (run.live() && run.key.subject == kSubject && run.key.generation != now->second.generation) {
      decision_.releases.push_back(Release{"", std::string(kSubject), false, Millis(0),
                                           "it was started for a state that the loop has left"});
      return std::nullopt;
    }
  const Run* const run = run_of(wanted.role, wanted.turn);
  const bool settled = run != nullptr && !run->live() && run->outcome != Outcome::voided &&
                       run->outcome != Outcome::interrupted &&
                       (!is_put_back(run->outcome) || by_own_keys(frame, *run)) && !run->forgiven;
  if (run != nullptr && (settled || run->live()))
    report_start(frame, *run);
  if (settled) {
    snapshot_.memo.last_run = named(*run);
    ActionResult result = result_of(*run);
    result.throttled = by_own_keys(frame, *run);
    return result;
  }
  for (const auto& [key, why] : snapshot_.view.refused)
    if (key.role == wanted.role && key.subject == kSubject && key.turn == wanted.turn &&
        key.generation == now->second.generation) {
      ActionResult none;
      none.exit_code = kExitNotFound;
      none.not_run = why;
      return none;
    }
  if (wanted.action && !allows_shell(snapshot_.view.options)) {
    decision_.holds.push_back(Hold{"", Subject(kSubject), cause_of(Situation::shell_forbidden),
                                   std::string(kShellForbidden), std::string(kAllowShell)});
    return std::nullopt;
  }
  wanted.counts_refusal = true;
  decision_.desired.push_back(std::move(wanted));
  return std::nullopt;
}

/// Whether the waits that the state itself defines follow: its agent's provider had too many
/// requests. Longer limits, and those of other states, are waited for without the loop.
bool Machine::by_own_keys(const Frame& frame, const Run& run) const {
  return frame.work.step == Step::act && state_of(frame)->rate_limit.own &&
         (run.outcome == Outcome::transient || run.outcome == Outcome::failed) &&
         run.reason == kThrottled;
}

/// Logs the start of an action, once per attempt.
void Machine::report_start(Frame& frame, const Run& run) {
  if (frame.work.announced == run.id)
    return;
  const bool same_try =
      std::any_of(snapshot_.view.runs.begin(), snapshot_.view.runs.end(), [&](const Run& other) {
        return other.id == frame.work.announced &&
               (other.outcome == Outcome::voided || says_nothing(other.outcome));
      });
  if (frame.work.step == Step::act && !same_try)
    events_.add("action_start", Json::object({{"action", frame.work.action},
                                              {"is_prompt", state_of(frame)->by_agent()}}));
  frame.work.announced = run.id;
}

Desired Machine::action_of(const Frame& frame, const LoopState& state) const {
  Desired wanted;
  wanted.subject = kSubject;
  wanted.why = "the loop is in the state " + state.name;
  const auto retries = frame.record.retries.find(state.name);
  if (state.retry.max > 0 && retries != frame.record.retries.end())
    wanted.first_attempt = static_cast<std::uint32_t>(retries->second + 1);
  const Environment& env = snapshot_.view.env;
  if (!state.by_agent()) {
    wanted.role = kActionRole;
    wanted.purpose = "shell";
    wanted.action = Action{{"/bin/bash", "-c", frame.work.action}, "", false};
    RunLimits limits = env.limits;
    limits.timeout = state.timeout;
    limits.idle_timeout = state.idle_timeout;
    wanted.limits = limits;
    return wanted;
  }
  wanted.role = state.role;
  wanted.purpose = std::string(kActions.at(static_cast<std::size_t>(state.action_type)).word);
  RunLimits limits = of_role(env.role_limits, state.role, env.limits);
  if (state.timeout_given)
    limits.timeout = state.timeout;
  if (state.idle_timeout > Millis(0))
    limits.idle_timeout = state.idle_timeout;
  wanted.limits = limits;
  return wanted;
}

bool Machine::run_action(Frame& frame) {
  const LoopState& state = *state_of(frame);
  decision_.attempts_max[Subject(kSubject)] =
      static_cast<std::uint32_t>(state.retry.max > 0 ? state.retry.max + 1 : 0);
  auto result = desired(frame, action_of(frame, state));
  if (!result)
    return false;
  if (result->not_run.empty())
    action_ended(frame, std::move(*result));
  else
    action_not_run(frame, *result);
  return true;
}

/// The program did not start, so there is nothing to evaluate.
void Machine::action_not_run(Frame& frame, const ActionResult& result) {
  if (!frame.work.announced.empty())
    events_.add("action_complete", Json::object({{"exit_code", result.exit_code},
                                                 {"duration_ms", result.duration_ms},
                                                 {"is_prompt", state_of(frame)->by_agent()},
                                                 {"not_run", result.not_run}}));
  fault(frame, "the action was not run: " + result.not_run);
}

void Machine::action_ended(Frame& frame, ActionResult result) {
  Record& record = frame.record;
  const LoopState& state = *state_of(frame);
  if (loop_.generation == Generation::modern)
    for (const std::string& line : last_lines(result.output))
      events_.add("action_output", Json::object({{"line", line}}));
  Json payload = Json::object({{"exit_code", result.exit_code},
                               {"duration_ms", result.duration_ms},
                               {"is_prompt", state.by_agent()},
                               {"output_preview", preview(result.output)},
                               {"stderr_preview", preview(result.error_output)}});
  if (!result.timeout_kind.empty())
    payload.set("timeout_kind", result.timeout_kind);
  events_.add("action_complete", payload);
  // The agent wrote a marker line on purpose, so its service did not reject the action.
  const bool asks = signal_in(result.output, snapshot_.signals_anywhere).kind != Signal::Kind::none;
  if (!frame.work.summary && !asks && retries_later(frame, result))
    return;
  record.phase = Phase::action_done;
  record.rate_limits.erase(state.name);
  if (!store_result(frame, std::move(result)))
    return;
  if (!state.append_to_messages.empty()) {
    auto message = interpolate(state.append_to_messages, values(frame));
    if (!message)
      return fault(frame, message.error().message);
    events_.add("messages_append", Json::object({{"message", *message}, {"state", state.name}}));
    add_message(record, *message);
  }
  if (!throttled(frame, state))
    conclude(frame, nullptr);
}

/// Stores a capture. False if the state file would become too large. In that case it has handled
/// the error.
bool Machine::add_capture(Frame& frame, const std::string& name, const Json& value) {
  Json captured = frame.record.captured;
  captured.set(name, value);
  if (captured.dump().size() > kMostCaptured) {
    fault(frame, "the captures of the loop would be larger than the " +
                     std::to_string(kMostCaptured) + " bytes that its state file can hold");
    return false;
  }
  frame.record.captured = std::move(captured);
  return true;
}

/// Stores the result of the action. False as with `add_capture`.
bool Machine::store_result(Frame& frame, ActionResult result) {
  const std::string& name = state_of(frame)->capture;
  frame.work.result = std::move(result);
  return name.empty() || add_capture(frame, name, capture_of(*frame.work.result));
}

// ---- judging ------------------------------------------------------------------------------------

bool Machine::ask_judge(Frame& frame) {
  const LoopState& state = *state_of(frame);
  const Values values = this->values(frame);
  const auto side =
      state.next.empty() ? side_command_for(judging(frame, values, nullptr)) : std::nullopt;
  if (!side) {
    conclude(frame, nullptr);
    return true;
  }
  Desired wanted;
  wanted.subject = kSubject;
  wanted.why = "the loop needs a verdict for the state " + state.name;
  RunLimits limits = snapshot_.view.env.limits;
  if (side->kind != SideCommand::Kind::judge) {
    wanted.role = kActionRole;
    wanted.purpose = side->kind == SideCommand::Kind::diff ? "diff" : "history";
    wanted.action = Action{side->argv, "", false};
    if (!wanted.action->argv.empty() && !wanted.action->argv.front().starts_with('/'))
      wanted.action->argv.insert(wanted.action->argv.begin(), "/usr/bin/env");
  } else {
    // After `halt` the question is gone, so it is taken from the new definition.
    if (frame.work.asked.empty()) {
      frame.work.asked = side->input;
      frame.work.model = side->model;
    }
    wanted.role = "judge";
    wanted.purpose = "judge";
    limits = of_role(snapshot_.view.env.role_limits, wanted.role, limits);
  }
  if (side->timeout > Millis(0))
    limits.timeout = side->timeout;
  wanted.limits = limits;
  const auto result = desired(frame, std::move(wanted));
  if (!result)
    return false;
  conclude(frame, &*result);
  return true;
}

/// `values` must outlive the result.
Judging Machine::judging(const Frame& frame, const Values& values, const ActionResult* side) const {
  const LoopState& state = *state_of(frame);
  return {.loop = loop_,
          .state = state,
          .action = frame.work.result ? &*frame.work.result : nullptr,
          .action_text = frame.work.action,
          .side = side,
          .values = values,
          .memory = json::child(*frame.memory, state.name)};
}

/// Evaluates the action that has ended, or a state without an action.
void Machine::conclude(Frame& frame, const ActionResult* side) {
  const LoopState& state = *state_of(frame);
  const ActionResult* const action = frame.work.result ? &*frame.work.result : nullptr;
  const Values values = this->values(frame);
  if (!state.next.empty()) {
    const Transition transition = transition_by_next(loop_, state, action, values);
    if (action != nullptr)
      frame.record.prev_result = prev_of(state.name, action);
    return apply(frame, transition, {});
  }
  const Judging judging = this->judging(frame, values, side);
  if (side == nullptr)
    if (const auto needed = side_command_for(judging)) {
      frame.record.phase = Phase::action_done;
      frame.work.step = Step::judge;
      frame.work.asked = needed->input;
      frame.work.model = needed->model;
      return stage(frame, "judge");
    }
  apply_verdict(frame, evaluate(judging));
}

void Machine::apply_verdict(Frame& frame, const Verdict& verdict) {
  Record& record = frame.record;
  const LoopState& state = *state_of(frame);
  if (!verdict.type.empty()) {
    Json payload = Json::object({{"type", verdict.type}, {"verdict", verdict.name}});
    if (verdict.implicit)
      payload.set("default", true);
    if (!verdict.details.is_null())
      for (const auto& member : verdict.details->GetObject())
        payload.set(json::name(member.name), member.value);
    events_.add("evaluate", payload);
  }
  record.phase = Phase::evaluated;
  const Json last =
      Json::object({{"verdict", verdict.name},
                    {"details", verdict.details.is_null() ? Json::object() : verdict.details}});
  // The end of a loop inside is no evaluation.
  if (state.loop.empty())
    record.last_result = last;
  if (!verdict.captured.is_null())
    record.captured = merged(*record.captured, *verdict.captured);
  if (verdict.memory.is_null())
    frame.memory.erase(state.name);
  else
    frame.memory.set(state.name, verdict.memory);
  const ActionResult* const action = frame.work.result ? &*frame.work.result : nullptr;
  if (const Value* const capture = json::child(*record.captured, state.capture);
      capture != nullptr && capture->IsObject()) {
    Json with_verdict(*capture);
    record.captured.set(state.capture, with_verdict.set("verdict", verdict.name));
  }
  Values values = this->values(frame);
  values.result = &*last;
  std::optional<Transition> transition = stalled(frame, state, verdict.name);
  if (!transition)
    transition = transition_for(loop_, state, verdict, action, values);
  if (state.loop.empty())
    record.prev_result = prev_of(state.name, action);
  apply(frame, *transition, verdict.name);
}

/// Handles an error that no evaluator sees. Only targets for errors apply.
void Machine::fault(Frame& frame, const std::string& why) {
  const LoopState& state = *state_of(frame);
  const Transition transition = transition_after_fault(loop_, state, why, values(frame));
  if (transition.kind == Transition::Kind::to)
    events_.add("action_error",
                Json::object({{"state", state.name}, {"error", why}, {"route", "on_error"}}));
  if (handle_signal(frame, nullptr, {}))
    return;
  if (transition.kind != Transition::Kind::to)
    return end(Status::failed, "error", false, transition.why.empty() ? why : transition.why);
  if (frame.work.summary)
    return apply(frame, transition, {});
  frame.record.last_result =
      Json::object({{"verdict", "error"}, {"details", Json::object({{"error", why}})}});
  move(frame, transition.to, "error", {});
}

// ---- going on -----------------------------------------------------------------------------------

void Machine::apply(Frame& frame, const Transition& transition, const std::string& verdict) {
  if (handle_signal(frame, &transition, verdict))
    return;
  if (frame.work.summary) {
    const std::string limit = frame.work.limit;
    // Not `move`: its limits would end the loop a second time.
    if (transition.kind == Transition::Kind::to) {
      const std::string from = frame.record.current_state;
      events_.add("route", Json::object({{"from", from}, {"to", transition.to}}));
      change_state(frame.record, from, transition.to);
    }
    return end(Status::interrupted, limit, false, {});
  }
  switch (transition.kind) {
    case Transition::Kind::error:
      return end(Status::failed, "error", false, transition.why);
    case Transition::Kind::stall:
      return end(Status::failed, "stall_detected", false, transition.why);
    case Transition::Kind::stop:
      // The action did not end by itself, so the state runs again after a resume.
      frame.record.phase = Phase::entered;
      snapshot_.memo.stopped_by = word(Situation::stopped_by_signal);
      return end(Status::interrupted, "interrupted", false, transition.why);
    case Transition::Kind::to:
      break;
  }
  move(frame, transition.to, verdict, transition.reason);
}

void Machine::move(Frame& frame, const std::string& to, const std::string& verdict,
                   const std::string& reason) {
  Record& record = frame.record;
  const std::string from = record.current_state;
  Json payload = Json::object({{"from", from}, {"to", to}});
  if (!verdict.empty())
    payload.set("verdict", verdict);
  if (!reason.empty())
    payload.set("reason", reason);
  events_.add("route", payload);
  const std::string edge = from + "->" + to;
  const std::int64_t count = ++record.edges[edge];
  if (const auto most = loop_.max_edge_revisits; most && count > *most) {
    events_.add(
        "cycle_detected",
        Json::object(
            {{"edge", edge}, {"from", from}, {"to", to}, {"count", count}, {"max", *most}}));
    return end(Status::failed, "cycle_detected", false,
               "the edge " + edge + " was taken more than " + std::to_string(*most) +
                   " times (max_edge_revisits)");
  }
  change_state(record, from, to);
  const std::int64_t until = frame.work.until_ms;
  frame.work = Work{};
  frame.work.until_ms = until > snapshot_.now_ms() ? until : 0;
  if (loop_.backoff > Millis(0) && reason.empty())
    frame.work.until_ms = (snapshot_.view.now + loop_.backoff).time_since_epoch().count();
}

/// Handles a marker line in the output of the action. False if there is none. `next`: where the
/// state leads; nullptr: nowhere.
bool Machine::handle_signal(Frame& frame, const Transition* next, const std::string& verdict) {
  if (!frame.work.result)
    return false;
  const Signal signal = signal_in(frame.work.result->output, snapshot_.signals_anywhere);
  switch (signal.kind) {
    case Signal::Kind::none:
      return false;
    case Signal::Kind::error:
      end(Status::failed, "error", false, signal.text);
      return true;
    case Signal::Kind::stop:
      if (snapshot_.memo.frames.size() > 1) {
        end_child("interrupted", false, signal.text);
        return true;
      }
      // A resume goes on behind the action. Without a next state it runs the action again.
      frame.record.phase = Phase::entered;
      if (next != nullptr && next->kind == Transition::Kind::to && !frame.work.summary)
        move(frame, next->to, verdict, next->reason);
      if (frame.record.status != Status::running)
        return true;
      frame.work = Work{};
      snapshot_.memo.stopped_by = word(Situation::stopped_by_agent);
      halt(Status::interrupted, "interrupted", signal.text);
      return true;
    case Signal::Kind::handoff:
      handle_handoff(frame, signal.text);
      return true;
  }
  return false;
}

void Machine::handle_handoff(Frame& frame, const std::string& text) {
  events_.add("handoff_detected", Json::object({{"state", frame.record.current_state},
                                                {"iteration", frame.record.iteration},
                                                {"continuation", text}}));
  const Handoff reaction = loop_.on_handoff;
  if (reaction == Handoff::terminate)
    return end(Status::failed, "handoff", false, {});
  stop_clocks();
  Record& own = snapshot_.record();
  own.status = Status::awaiting_continuation;
  own.terminated_by = "handoff";
  // In a loop inside, the agent reads the text from the record of that frame.
  own.continuation_prompt = frame.record.continuation_prompt = text;
  // The agent stopped in the middle, so the state runs again.
  frame.record.phase = Phase::entered;
  frame.work = Work{};
  snapshot_.memo.stage = std::string(own.status_word()) + "#" + std::to_string(own.seq);
  if (reaction == Handoff::spawn)
    snapshot_.memo.spawn = text;
}

}  // namespace baton::fsm_loop
