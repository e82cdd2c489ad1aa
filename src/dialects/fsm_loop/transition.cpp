#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/findings.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

namespace {

constexpr int kMostUndecided = 2;

Transition no_transition(std::string why) {
  return {Transition::Kind::error, {}, std::move(why), {}};
}

/// The target of a verdict, also under its other name (yes and success); nullptr: none.
const std::string* target_of(const std::vector<Row>& rows, std::string_view word) {
  const auto find = [&](auto&& fits) -> const std::string* {
    const auto row = std::find_if(rows.begin(), rows.end(), fits);
    return row == rows.end() ? nullptr : &row->target;
  };
  if (const std::string* const exact = find([&](const Row& row) { return row.verdict == word; }))
    return exact;
  return find([&](const Row& row) { return same_verdict(row.verdict, word); });
}

bool is_error(std::string_view verdict) {
  return verdict == "error" || verdict == "error_uncertain";
}

/// The target for errors; nullptr: none.
const std::string* error_target(const LoopState& state) {
  if (!state.routes)
    return target_of(state.shorthand, "error");
  const std::string* const exact = target_of(state.route, "error");
  return exact != nullptr ? exact : target_of(state.route, "_error");
}

const std::string* by_route(const LoopState& state, std::string_view verdict) {
  if (const std::string* const exact = target_of(state.route, verdict))
    return exact;
  if (is_error(verdict))
    if (const std::string* const error = error_target(state))
      return error;
  if (const std::string* const any = target_of(state.route, "_"))
    return any;
  return same_verdict(verdict, "no") ? target_of(state.route, "_error") : nullptr;
}

const std::string* by_shorthand(const LoopState& state, std::string_view verdict) {
  if (const std::string* const exact = target_of(state.shorthand, verdict))
    return exact;
  return is_error(verdict) || same_verdict(verdict, "no") ? target_of(state.shorthand, "error")
                                                          : nullptr;
}

/// The target for errors, or `on_retry_exhausted` for an exit code that is not worth a retry.
Transition resolve_error_target(const Loop& loop, const LoopState& state, const std::string& target,
                                const ActionResult* action, const Values& values) {
  const std::vector<int>& codes = state.retry.codes;
  const bool bypass = action != nullptr && action->exit_code != 0 && !codes.empty() &&
                      std::find(codes.begin(), codes.end(), action->exit_code) == codes.end();
  if (!bypass || state.retry.exhausted.empty())
    return resolve_target(loop, state, target, values);
  Transition transition = resolve_target(loop, state, state.retry.exhausted, values);
  transition.reason = "retry_exhausted";
  return transition;
}

/// `cannot_judge`: runs the state again a few times, then it is an error. It never counts as no.
Transition undecided(const Loop& loop, const LoopState& state, const Verdict& verdict,
                     const Values& values) {
  if (verdict.undecided <= kMostUndecided)
    return {Transition::Kind::to, state.name, {}, "cannot_judge"};
  if (const std::string* const error = error_target(state))
    return resolve_target(loop, state, *error, values);
  return no_transition("the state " + quoted_word(state.name) + " could not be judged " +
                       std::to_string(verdict.undecided) +
                       " times in a row and has no target for errors");
}

std::string why_no_transition(const LoopState& state, const Verdict& verdict) {
  std::vector<std::string_view> words;
  for (const Row& row : state.routes ? state.route : state.shorthand)
    words.emplace_back(row.verdict);
  std::string text = "No valid transition: the state " + quoted_word(state.name) +
                     " has no target for the verdict " + quoted_word(verdict.name);
  if (!words.empty())
    text += ", only for " + any_of_words(words);
  if (const auto why = json::text(*verdict.details, "error"))
    text += " (" + std::string(*why) + ")";
  return text;
}

}  // namespace

Transition transition_for(const Loop& loop, const LoopState& state, const Verdict& verdict,
                          const ActionResult* action, const Values& values) {
  const std::vector<Row>& rows = state.routes ? state.route : state.shorthand;
  if (verdict.name == "cannot_judge" && target_of(rows, verdict.name) == nullptr)
    return undecided(loop, state, verdict, values);
  const auto by = state.routes ? by_route : by_shorthand;
  const std::string* target = by(state, verdict.name);
  // For a loop inside, an error without a target counts as no.
  if (target == nullptr && !state.loop.empty() && is_error(verdict.name))
    target = by(state, "no");
  if (target == nullptr)
    return no_transition(why_no_transition(state, verdict));
  return target == error_target(state) ? resolve_error_target(loop, state, *target, action, values)
                                       : resolve_target(loop, state, *target, values);
}

Transition transition_by_next(const Loop& loop, const LoopState& state, const ActionResult* action,
                              const Values& values) {
  if (action == nullptr || action->exit_code == 0 || !loop.exit_code_aware)
    return resolve_target(loop, state, state.next, values);
  if (const std::string* const error = error_target(state))
    return resolve_error_target(loop, state, *error, action, values);
  if (action->exit_code < 0)
    return {Transition::Kind::stop,
            {},
            "the action of the state " + quoted_word(state.name) + " was ended by signal " +
                std::to_string(-action->exit_code),
            {}};
  return resolve_target(loop, state, state.next, values);
}

Transition transition_after_fault(const Loop& loop, const LoopState& state, const std::string& why,
                                  const Values& values) {
  const std::string* const error = error_target(state);
  if (error == nullptr)
    return no_transition(why);
  Transition transition = resolve_target(loop, state, *error, values);
  if (transition.kind == Transition::Kind::to)
    transition.reason = "action_error";
  return transition;
}

Transition transition_when_throttled(const Loop& loop, const LoopState& state,
                                     const Values& values) {
  if (!state.throttle->hard.empty())
    return resolve_target(loop, state, state.throttle->hard, values);
  const std::string* const error = error_target(state);
  return resolve_target(loop, state, error == nullptr ? "$current" : *error, values);
}

Transition resolve_target(const Loop& loop, const LoopState& state, const std::string& target,
                          const Values& values) {
  auto name = interpolate(target, values);
  if (!name)
    return no_transition("the next state after " + quoted_word(state.name) +
                         " cannot be computed: " + name.error().message);
  if (*name == "$current")
    return {Transition::Kind::to, state.name, {}, {}};
  if (loop.state(*name) != nullptr)
    return {Transition::Kind::to, std::move(*name), {}, {}};
  std::vector<std::string_view> words;
  for (const LoopState& each : loop.states)
    words.emplace_back(each.name);
  const std::string near = near_word(*name, words);
  return no_transition("the state " + quoted_word(state.name) + " leads to " + quoted_word(*name) +
                       ", which does not exist in the definition" +
                       (near.empty() ? "" : "; did you mean " + quoted_word(near) + "?"));
}

}  // namespace baton::fsm_loop
