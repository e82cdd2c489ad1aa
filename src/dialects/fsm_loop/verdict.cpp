// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/verdict.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

namespace {

constexpr int kTimeIsUp = 124;
constexpr std::string_view kUncertain = "_uncertain";

std::string without_line_ends(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r'))
    text.remove_suffix(1);
  return mended_utf8(text);
}

/// The text to evaluate. `source_fault` says why it is not the text that `source` asks for.
struct Input {
  std::string text;
  std::string source_fault;
};
Input input_of(const Judging& judging) {
  Input input;
  if (judging.action != nullptr)
    input.text = judging.action->output;
  if (const auto source = json::text(*judging.state.evaluate, "source")) {
    auto filled = interpolate(*source, judging.values);
    if (filled)
      input.text = std::move(*filled);
    else
      input.source_fault = filled.error().message;
  }
  input.text = mended_utf8(input.text);
  return input;
}

std::string ended_badly(const ActionResult& action) {
  if (action.exit_code < 0)
    return "the action was ended by signal " + std::to_string(-action.exit_code);
  return "the action exited with code " + std::to_string(action.exit_code);
}

/// The verdict if it does not depend on the output. Empty if it does.
std::optional<Verdict> settled(const Judging& judging, Evaluator evaluator) {
  const ActionResult* const action = judging.action;
  if (action != nullptr && !action->not_run.empty())
    return failed("the action was not run: " + action->not_run);
  if (action != nullptr && judging.loop.exit_code_aware && evaluator != Evaluator::mcp_result) {
    const Json code = Json::object({{"exit_code", action->exit_code}});
    if (action->exit_code == kTimeIsUp)
      return failed("the action ran out of time", code);
    if (action->exit_code != 0 && kEvaluators.at(static_cast<std::size_t>(evaluator)).needs_success)
      return failed(ended_badly(*action), code);
  }
  if (evaluator == Evaluator::llm_structured && !judging.loop.llm.enabled)
    return failed("`llm.enabled` is false, so there is no judge to ask",
                  Json::object({{"llm_disabled", true}}));
  return std::nullopt;
}

Verdict judged(const Judging& judging, Evaluator evaluator, const std::string& text) {
  switch (evaluator) {
    case Evaluator::exit_code:
      return by_exit_code(judging.action == nullptr ? 0 : judging.action->exit_code);
    case Evaluator::output_numeric:
      return by_number(judging, text);
    case Evaluator::output_json:
      return by_json(judging, text);
    case Evaluator::output_contains:
      return by_pattern(judging, text);
    case Evaluator::convergence:
      return by_convergence(judging, text);
    case Evaluator::llm_structured:
      return by_answer(judging, text);
    case Evaluator::mcp_result:
      return by_mcp_envelope(judging, text);
    case Evaluator::harbor_scorer:
      return by_score(judging, text);
    case Evaluator::diff_stall:
      return by_diff(judging);
    case Evaluator::action_stall:
      return by_repetition(judging);
    case Evaluator::classify:
      return by_token(judging, text);
    case Evaluator::score_stall:
      return by_history(judging, true);
    case Evaluator::open_question_stall:
      return by_history(judging, false);
    case Evaluator::comparator:
    case Evaluator::contract:
      break;
  }
  return failed("baton does not have this evaluator");
}

/// Whether the author of the definition chose the words of the verdict: a token, or an answer that
/// fits the evaluator's own schema.
bool own_words(const Judging& judging, Evaluator evaluator) {
  return evaluator == Evaluator::classify || evaluator == Evaluator::mcp_result ||
         (evaluator == Evaluator::llm_structured &&
          json::child(*judging.state.evaluate, "schema") != nullptr);
}

std::optional<Evaluator> evaluator_of(const Judging& judging) {
  if (judging.state.evaluator)
    return judging.state.evaluator;
  // baton does not replace an unknown evaluator by another one.
  return judging.state.evaluate.is_null() ? default_evaluator(judging.loop, judging.state)
                                          : std::nullopt;
}

int undecided(const Judging& judging, const Verdict& verdict) {
  if (verdict.name != "cannot_judge")
    return 0;
  const auto before =
      judging.memory == nullptr ? std::nullopt : json::integer(*judging.memory, "undecided");
  constexpr std::int64_t kMost = 1'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(before.value_or(0), 0, kMost)) + 1;
}

/// Completes the verdict: the members for the event, and the memory for the next entry of the
/// state.
void complete(const Judging& judging, Evaluator evaluator, Verdict& verdict) {
  verdict.type = kEvaluators.at(static_cast<std::size_t>(evaluator)).word;
  verdict.implicit = judging.state.evaluate.is_null();
  if (!own_words(judging, evaluator))
    verdict.name = native_verdict(judging.loop.generation, verdict.name);
  if (verdict.implicit && judging.state.by_agent() && evaluator == Evaluator::exit_code)
    verdict.details.set("note", "`llm.enabled` is false: the agent's exit code decides");
  verdict.undecided = undecided(judging, verdict);
  if (verdict.undecided > 0)
    verdict.memory.set("undecided", verdict.undecided);
}

constexpr int kMostUndecided = 2;
constexpr std::string_view kNoTarget = "No valid transition: ";
constexpr std::string_view kNoSuchState = ", which does not exist in the definition";

Transition no_transition(std::string why) {
  return {Transition::Kind::error, {}, std::move(why), {}};
}

/// The target of a verdict, also under its other name (yes and success). nullptr if there is none.
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

/// The target for errors; nullptr if there is none.
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

/// Resolves the target for errors. For an exit code that is not worth a retry it is
/// `on_retry_exhausted`.
Transition resolve_error_target(const Loop& loop, const LoopState& state, const std::string& target,
                                const ActionResult* action, const Values& values) {
  const std::vector<int>& codes = state.retry.codes;
  const bool bypass = action != nullptr && action->exit_code != 0 && !codes.empty() &&
                      std::find(codes.begin(), codes.end(), action->exit_code) == codes.end();
  if (!bypass || state.retry.exhausted.empty())
    return resolve_target(loop, state, target, values);
  return resolve_target(loop, state, state.retry.exhausted, values);
}

/// The transition for `cannot_judge`: the state runs again a few times, then it is an error.
/// `cannot_judge` never counts as no.
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
  std::string text(kNoTarget);
  text += "the state " + quoted_word(state.name) + " has no target for the verdict " +
          quoted_word(verdict.name);
  if (!words.empty())
    text += ", only for " + any_of_words(words);
  if (const auto why = json::text(*verdict.details, "error"))
    text += " (" + std::string(*why) + ")";
  return text;
}

}  // namespace

Json capture_of(const ActionResult& action) {
  Json capture = Json::object({{"output", without_line_ends(action.output)},
                               {"stderr", mended_utf8(action.error_output)},
                               {"exit_code", action.exit_code},
                               {"duration_ms", action.duration_ms}});
  // A verdict follows once there is one.
  capture.set("failure_type", failure_type(action));
  capture.set("timeout_kind", action.timeout_kind.empty() ? Json() : Json(action.timeout_kind));
  return capture;
}

Json prev_of(const std::string& state, const ActionResult* action) {
  Json prev = Json::object({{"output", action == nullptr ? "" : action->output},
                            {"exit_code", action == nullptr ? 0 : action->exit_code},
                            {"state", state}});
  if (action != nullptr && !action->timeout_kind.empty())
    prev.set("timeout_kind", action->timeout_kind);
  return prev;
}

std::optional<SideCommand> side_command_for(const Judging& judging) {
  const auto evaluator = evaluator_of(judging);
  if (!evaluator || settled(judging, *evaluator))
    return std::nullopt;
  if (evaluator == Evaluator::llm_structured) {
    auto asked = question(judging, input_of(judging).text);
    return asked ? std::optional(std::move(*asked)) : std::nullopt;
  }
  if (*evaluator == Evaluator::diff_stall)
    return diff_command(judging);
  if (*evaluator == Evaluator::score_stall || *evaluator == Evaluator::open_question_stall)
    return history_command(judging, *evaluator == Evaluator::score_stall);
  return std::nullopt;
}

Verdict evaluate(const Judging& judging) {
  const auto evaluator = evaluator_of(judging);
  if (!evaluator && judging.state.evaluate.is_null()) {
    Verdict verdict = make_verdict("yes", Json::object());
    verdict.name = native_verdict(judging.loop.generation, verdict.name);
    verdict.implicit = true;
    return verdict;
  }
  if (!evaluator) {
    const auto type = json::text(*judging.state.evaluate, "type").value_or("");
    Verdict verdict = failed("there is no evaluator " + quoted_word(type));
    verdict.type = type;
    return verdict;
  }
  std::optional<Verdict> verdict = settled(judging, *evaluator);
  if (!verdict) {
    const Input input = input_of(judging);
    verdict = judged(judging, *evaluator, input.text);
    if (!input.source_fault.empty())
      verdict->details.set("source_error", input.source_fault);
  }
  complete(judging, *evaluator, *verdict);
  return std::move(*verdict);
}

Verdict make_verdict(std::string name, Json details) {
  Verdict verdict;
  verdict.name = std::move(name);
  verdict.details = std::move(details);
  return verdict;
}

Verdict failed(const std::string& why, Json details) {
  // The text may hold output of programs.
  constexpr std::size_t kMost = 1000;
  details.set("error", printable(why, kMost));
  return make_verdict("error", std::move(details));
}

Result<std::string> setting(const Judging& judging, std::string_view key) {
  const Value* const value = json::child(*judging.state.evaluate, key);
  if (value == nullptr || value->IsNull())
    return fail(Errc::not_found, "there is no `" + std::string(key) + "`");
  const auto text = json::text(*value);
  return text ? interpolate(*text, judging.values) : rendered(*value);
}

bool same_verdict(std::string_view left, std::string_view right) {
  if (left == right)
    return true;
  if (left.ends_with(kUncertain) && right.ends_with(kUncertain))
    return same_verdict(left.substr(0, left.size() - kUncertain.size()),
                        right.substr(0, right.size() - kUncertain.size()));
  const auto twins = [&](std::string_view first, std::string_view second) {
    return (left == first && right == second) || (left == second && right == first);
  };
  return twins("yes", "success") || twins("no", "failure");
}

std::string_view native_verdict(Generation generation, std::string_view word) {
  const bool later = generation == Generation::modern;
  if (same_verdict(word, "yes"))
    return later ? "yes" : "success";
  if (same_verdict(word, "no"))
    return later ? "no" : "failure";
  if (same_verdict(word, "yes_uncertain"))
    return later ? "yes_uncertain" : "success_uncertain";
  if (same_verdict(word, "no_uncertain"))
    return later ? "no_uncertain" : "failure_uncertain";
  return word;
}

Transition transition_for(const Loop& loop, const LoopState& state, const Verdict& verdict,
                          const ActionResult* action, const Values& values) {
  const std::vector<Row>& rows = state.routes ? state.route : state.shorthand;
  if (verdict.name == "cannot_judge" && target_of(rows, verdict.name) == nullptr)
    return undecided(loop, state, verdict, values);
  // A token stands for itself: `success` is not `yes`.
  if (state.routes && state.evaluator == Evaluator::classify && !is_error(verdict.name) &&
      std::none_of(rows.begin(), rows.end(),
                   [&](const Row& row) { return row.verdict == verdict.name; }))
    if (const std::string* const any = target_of(rows, "_"))
      return resolve_target(loop, state, *any, values);
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

std::optional<Transition> transition_when_throttled(const Loop& loop, const LoopState& state,
                                                    const Values& values) {
  if (!state.throttle->hard.empty())
    return resolve_target(loop, state, state.throttle->hard, values);
  const std::string* const error = error_target(state);
  return error == nullptr ? std::nullopt
                          : std::optional(resolve_target(loop, state, *error, values));
}

bool lacks_target(std::string_view error) {
  return error.starts_with(kNoTarget) || error.find(kNoSuchState) != std::string_view::npos;
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
                       std::string(kNoSuchState) +
                       (near.empty() ? "" : "; did you mean " + quoted_word(near) + "?"));
}

}  // namespace baton::fsm_loop
