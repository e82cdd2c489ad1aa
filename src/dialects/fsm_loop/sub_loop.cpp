// SPDX-License-Identifier: Apache-2.0

// The part of the machine that runs a loop inside a state of another one.

#include <algorithm>
#include <array>
#include <iterator>

#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/machine.h"

namespace baton::fsm_loop {

namespace {

constexpr std::size_t kMostFrames = 8;

/// The context for `context_passthrough`, as in the original: captures become their output, and
/// members of the inner loop's own context stay.
Json passed_through(const Value& context, const Value& captured, const Value& own) {
  Json passed(context);
  for (const auto& member : captured.GetObject()) {
    const Value* const output = json::child(member.value, "exit_code") == nullptr
                                    ? nullptr
                                    : json::child(member.value, "output");
    passed.set(json::name(member.name), output == nullptr ? member.value : *output);
  }
  for (const auto& member : own.GetObject())
    passed.erase(json::name(member.name));
  return passed;
}

/// A state's `timeout` bounds that of its loop.
void bound_time(const LoopState& state, Json& definition) {
  const auto own = json::number(*definition, "timeout");
  const double most = static_cast<double>(state.timeout.count()) / 1000;
  if (state.timeout > Millis(0) && (!own || *own == 0 || *own > most))
    definition.set("timeout", most);
}

/// Whether a limit has cut the loop off before it came to an end.
bool cut_off(std::string_view terminated_by) {
  constexpr std::array<std::string_view, 4> kWords = {"timeout", "max_steps", "max_iterations",
                                                      "max_iterations_reached"};
  return std::find(kWords.begin(), kWords.end(), terminated_by) != kWords.end();
}

std::string_view verdict_of(std::string_view terminated_by, bool failure) {
  if (terminated_by == "error")
    return "error";
  return terminated_by == "terminal" && !failure ? "yes" : "no";
}

bool leads_on(const LoopState& state, std::string_view verdict) {
  const std::vector<Row>& rows = state.routes ? state.route : state.shorthand;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.verdict == verdict; });
}

}  // namespace

void Machine::wait_for_files(Frame& frame) {
  frame.work.until_ms = (snapshot_.view.now + kBreather).time_since_epoch().count();
  decision_.wake = snapshot_.view.now + kBreather;
}

void Machine::begin_child(Frame& frame, const LoopState& state) {
  const Values values = this->values(frame);
  const auto name = interpolate(state.loop, values);
  if (!name)
    return fault(frame, name.error().message);
  if (snapshot_.memo.frames.size() >= kMostFrames)
    return fault(frame,
                 "loops run inside each other more than " + std::to_string(kMostFrames) + " deep");
  const Library library = library_of(snapshot_.view.docs, snapshot_.view.options);
  const std::string path = place_of(snapshot_.paths.folder(), *name, library).path;
  // `reads` asks for the files of a loop whose name was computed just now.
  if (path.empty() && frame.work.child != *name) {
    frame.work.child = *name;
    frame.work.step = Step::child;
    return wait_for_files(frame);
  }
  if (path.empty())
    return fault(frame, "there is no loop " + quoted_word(*name));
  Loaded loaded = snapshot_.loaded(path, snapshot_.record().ignore_unsupported);
  if (!loaded.definition)
    return fault(frame, loaded.error);
  Frame child;
  child.definition = std::move(*loaded.definition);
  bound_time(state, child.definition);
  const Loop loop = loop_of(*child.definition);
  Json context = state.context_passthrough
                     ? passed_through(*context_, *frame.record.captured, *loop.context)
                     : Json::object();
  if (!state.with.is_null()) {
    auto with = interpolate_all(*state.with, values);
    if (!with)
      return fault(frame, with.error().message);
    context = merged(*context, **with);
  }
  if (auto filled = fill_parameters(loop, context); !filled)
    return fault(frame, filled.error().message);
  auto added = add_inner_run_values(loop, *context_, context);
  if (!added && !snapshot_.record().ignore_unsupported)
    return fault(frame, added.error().message);
  if (!has_worktree(frame, state))
    return;
  child.record.loop_name = loop.name;
  child.record.current_state = loop.initial;
  child.record.started_at = stamp(snapshot_.view.wall);
  child.record.context = std::move(context);
  child.since_ms = snapshot_.clock_ms();
  frame.work.step = Step::child;
  snapshot_.memo.frames.push_back(std::move(child));
  events_.add("loop_start", Json::object({{"loop", loop.name}}));
}

void Machine::end_child(std::string_view terminated_by, bool failure, const std::string& error) {
  Frame& ended = snapshot_.memo.frames.back();
  Json payload = Json::object({{"final_state", ended.record.current_state},
                               {"iterations", ended.record.iteration},
                               {"terminated_by", terminated_by}});
  if (!error.empty())
    payload.set("error", error);
  events_.add("loop_complete", payload.set("failure_terminal", failure));
  const ChildEnd end{std::string(terminated_by), failure, error};
  if (std::prev(snapshot_.memo.frames.end(), 2)->work.worktree.empty())
    return join_child(end);
  ended.work = Work{};
  ended.work.end = end;
  ended.work.step = Step::detach;
  stage(ended, "detach");
}

/// Takes the result of the loop that has ended into the loop around it.
void Machine::join_child(const ChildEnd& end) {
  const auto [terminated_by, failure, error] = end;
  const Record child = snapshot_.memo.frames.back().record;
  Json outcome = Json::object({{"terminated_by", terminated_by}});
  if (failure)
    outcome.set("failure_terminal", true);
  if (!error.empty())
    outcome.set("error", error);
  snapshot_.memo.frames.pop_back();
  Frame& frame = snapshot_.memo.frames.back();
  read(frame);
  const LoopState* const state = state_of(frame);
  if (state == nullptr) {
    frame.work.step = Step::enter;
    return;
  }
  const bool well = terminated_by == "terminal" && !failure;
  frame.record.phase = Phase::action_done;
  if (!child.last_result.is_null())
    frame.record.last_result = child.last_result;
  // Later states read `${captured.STATE.terminated_by}`.
  const Json known = state->hands_back() ? child.captured : Json::object();
  if (!add_capture(frame, state->name, merged(*known, *outcome)))
    return;
  const Json result_of_loop = merged(*Json::object({{"output", ""},
                                                    {"stderr", ""},
                                                    {"exit_code", well ? 0 : 1},
                                                    {"verdict", verdict_of(terminated_by, failure)},
                                                    {"captured", child.captured}}),
                                     *outcome);
  if (!state->capture.empty() && !add_capture(frame, state->capture, result_of_loop))
    return;
  if (!state->next.empty()) {
    ActionResult result;
    result.exit_code = well ? 0 : 1;
    return apply(frame, transition_by_next(loop_, *state, &result, values(frame)), {});
  }
  Verdict verdict;
  verdict.name = native_verdict(loop_.generation, verdict_of(terminated_by, failure));
  if (cut_off(terminated_by) && leads_on(*state, "timeout"))
    verdict.name = "timeout";
  verdict.details = outcome;
  apply_verdict(frame, verdict);
}

}  // namespace baton::fsm_loop
