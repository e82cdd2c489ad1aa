// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/loop.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/json/document.h"
#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

namespace {

/// Terminal states with these names are failures unless `failure` says otherwise.
constexpr std::array<std::string_view, 4> kFailureNames = {"failed", "error", "aborted",
                                                           "finalize_aborted"};

Millis seconds(double count) {
  constexpr double kMost = 1e12;  // in milliseconds: about thirty years
  return Millis(static_cast<std::int64_t>(std::clamp(count * 1000, 0.0, kMost)));
}

std::optional<Millis> seconds_of(const Value& object, std::string_view key) {
  const auto count = json::number(object, key);
  return count ? std::optional(seconds(*count)) : std::nullopt;
}

/// A time of 0 is as good as none.
std::optional<Millis> time_limit(const Value& object, std::string_view key) {
  const auto time = seconds_of(object, key);
  return time == Millis(0) ? std::nullopt : time;
}

Json member_of(const Value& object, std::string_view key) {
  const Value* const value = json::child(object, key);
  return value == nullptr ? Json() : Json(*value);
}

std::vector<Row> rows_of(const Value& body) {
  std::vector<Row> rows;
  for (const auto& member : members_in(body, "route"))
    if (const auto target = json::text(member.value)) {
      const std::string_view word = json::name(member.name);
      // The original ignores other words that begin with `_`.
      if (!word.starts_with('_') || word == "_" || word == "_error")
        rows.push_back({std::string(word), std::string(*target)});
    }
  return rows;
}

std::vector<Row> shorthand_of(const Value& body) {
  std::vector<Row> rows;
  for (const auto& member : body.GetObject()) {
    const std::string_view key = json::name(member.name);
    if (const auto target = json::text(member.value); target && is_verdict_key(key))
      rows.push_back({std::string(key.substr(3)), std::string(*target)});
  }
  return rows;
}

Retry retry_of(const Value& body) {
  Retry retry;
  retry.max = json::integer(body, "max_retries").value_or(0);
  retry.exhausted = text_of(body, "on_retry_exhausted");
  for (const Value& code : items_in(body, "retryable_exit_codes"))
    retry.codes.push_back(static_cast<int>(json::integer(code).value_or(0)));
  return retry;
}

RateLimit rate_limit_of(const Value& body) {
  RateLimit limit;
  limit.max_retries = json::integer(body, "max_rate_limit_retries").value_or(limit.max_retries);
  limit.base = seconds_of(body, "rate_limit_backoff_base_seconds").value_or(limit.base);
  limit.max_wait = seconds_of(body, "rate_limit_max_wait_seconds").value_or(limit.max_wait);
  limit.exhausted = text_of(body, "on_rate_limit_exhausted");
  if (const auto ladder = items_in(body, "rate_limit_long_wait_ladder"); !ladder.Empty())
    limit.ladder.clear();
  for (const Value& wait : items_in(body, "rate_limit_long_wait_ladder"))
    limit.ladder.push_back(seconds(json::number(wait).value_or(0)));
  for (const char* const key :
       {"max_rate_limit_retries", "on_rate_limit_exhausted", "rate_limit_backoff_base_seconds",
        "rate_limit_max_wait_seconds", "rate_limit_long_wait_ladder"})
    limit.own = limit.own || json::child(body, key) != nullptr;
  return limit;
}

Throttle throttle_of(const Value& body) {
  Throttle throttle;
  const Value* const given = json::child(body, "throttle");
  if (given == nullptr)
    return throttle;
  throttle.normal_max = json::integer(*given, "normal_max").value_or(throttle.normal_max);
  throttle.warn_max = json::integer(*given, "warn_max").value_or(throttle.warn_max);
  throttle.hard_max = json::integer(*given, "hard_max").value_or(throttle.hard_max);
  throttle.hard = text_of(body, "on_throttle_hard");
  return throttle;
}

ActionType action_type_of(const Value& body) {
  if (const ActionRow* const row = row_of(kActions, text_of(body, "action_type")))
    return row->type;
  return json::text(body, "action").value_or("").starts_with('/') ? ActionType::slash_command
                                                                  : ActionType::shell;
}

/// What of a state baton does not carry out (S31). A guard (S8) only leaves the state unguarded.
std::string unsupported(const Value& body) {
  if (json::text(body, "type") == "learning")
    return "states of the type \"learning\"";
  const auto action = json::text(body, "action_type");
  const ActionRow* const type = row_of(kActions, action.value_or(""));
  if (action && (type == nullptr || !type->supported))
    return "actions of the type " + quoted_word(*action);
  const Value* const evaluate = json::child(body, "evaluate");
  const auto word = evaluate == nullptr ? std::nullopt : json::text(*evaluate, "type");
  const EvaluatorRow* const evaluator = row_of(kEvaluators, word.value_or(""));
  if (evaluator != nullptr && !evaluator->supported)
    return "the evaluator " + quoted_word(*word);
  return {};
}

/// Reads the states of one definition.
class StateReader {
 public:
  StateReader(const Value& root, Generation generation) : root_(root), generation_(generation) {}

  LoopState read(const std::string& name, const Value& body) const {
    LoopState state;
    state.name = name;
    if (const auto action = json::text(body, "action"))
      state.action = std::string(*action);
    state.action_type = action_type_of(body);
    state.role = json::text(body, "agent").value_or("agent");
    state.capture = text_of(body, "capture");
    if (const Value* const evaluate = json::child(body, "evaluate")) {
      state.evaluate = Json(*evaluate);
      if (const EvaluatorRow* const row = row_of(kEvaluators, text_of(*evaluate, "type")))
        state.evaluator = row->evaluator;
    }
    const Value* const route = json::child(body, "route");
    state.routes = route != nullptr && route->IsObject();
    state.route = rows_of(body);
    state.shorthand = shorthand_of(body);
    state.next = text_of(body, "next");
    state.terminal = json::boolean(body, "terminal").value_or(false);
    state.failure =
        json::boolean(body, "failure")
            .value_or(state.terminal && std::find(kFailureNames.begin(), kFailureNames.end(),
                                                  name) != kFailureNames.end());
    state.on_maintain = text_of(body, "on_maintain");
    state.retry = retry_of(body);
    state.rate_limit = rate_limit_of(body);
    if (generation_ == Generation::modern)
      state.throttle = throttle_of(body);
    state.loop = text_of(body, "loop");
    state.worktree = text_of(body, "worktree");
    times(body, state);
    state.with = member_of(body, "with");
    state.context_passthrough = json::boolean(body, "context_passthrough").value_or(false);
    state.append_to_messages = text_of(body, "append_to_messages");
    state.idempotent = json::boolean(body, "idempotent").value_or(false);
    state.param = member_of(body, "param");
    state.unsupported = unsupported(body);
    return state;
  }

 private:
  void times(const Value& body, LoopState& state) const {
    constexpr Millis kFirst{120'000};
    constexpr Millis kLater{3'600'000};
    state.idle_timeout =
        seconds_of(body, "idle_timeout")
            .value_or(seconds_of(root_, "default_idle_timeout").value_or(Millis{0}));
    auto timeout = time_limit(body, "timeout");
    if (!timeout)
      timeout = time_limit(root_, "default_timeout");
    state.timeout_given = timeout.has_value();
    if (!state.loop.empty())
      state.timeout = seconds_of(body, "timeout").value_or(Millis{0});
    else if (timeout)
      state.timeout = *timeout;
    else if (generation_ == Generation::v1)
      state.timeout = kFirst;
    else if (!state.by_agent() || state.idle_timeout == Millis{0})
      state.timeout = kLater;
  }

  const Value& root_;
  Generation generation_;
};

Llm llm_of(const Value& root, Generation generation) {
  Llm llm;
  if (generation == Generation::modern)
    llm.timeout = Millis{1'800'000};
  const Value* const given = json::child(root, "llm");
  if (given == nullptr)
    return llm;
  llm.enabled = json::boolean(*given, "enabled").value_or(true);
  llm.model = text_of(*given, "model");
  llm.max_tokens = json::integer(*given, "max_tokens").value_or(llm.max_tokens);
  llm.timeout = seconds_of(*given, "timeout").value_or(llm.timeout);
  return llm;
}

std::vector<Parameter> parameters_of(const Value& root) {
  std::vector<Parameter> all;
  for (const auto& member : members_in(root, "parameters"))
    all.push_back({std::string(json::name(member.name)),
                   std::string(json::text(member.value, "type").value_or("string")),
                   json::boolean(member.value, "required").value_or(false),
                   member_of(member.value, "default"), member_of(member.value, "values")});
  return all;
}

std::optional<RepeatedFailure> repeated_failure_of(const Value& root) {
  const Value* const given = repeated_failure_in(root);
  if (given == nullptr)
    return std::nullopt;
  RepeatedFailure failure;
  failure.window = json::integer(*given, "window").value_or(failure.window);
  failure.recurrent = json::integer(*given, "recurrent_window");
  failure.target = text_of(*given, "on_repeated_failure");
  if (failure.target == "abort")
    failure.target.clear();
  return failure;
}

/// Reads the limits. Without `max_steps`, `max_iterations` is the old name of `max_steps`.
void limits(const Value& root, Loop& loop) {
  const auto steps = json::integer(root, "max_steps");
  const auto iterations = json::integer(root, "max_iterations");
  loop.max_steps = steps ? *steps : iterations.value_or(loop.max_steps);
  if (steps)
    loop.max_passes = iterations;
  loop.on_max_steps = text_of(root, "on_max_steps");
  loop.on_max_passes = text_of(root, "on_max_iterations");
  // The first generation has no limit for repeated edges.
  constexpr std::int64_t kMostRevisits = 100;
  loop.max_edge_revisits = json::integer(root, "max_edge_revisits");
  if (!loop.max_edge_revisits && loop.generation == Generation::modern)
    loop.max_edge_revisits = kMostRevisits;
  loop.repeated_failure = repeated_failure_of(root);
  loop.backoff = seconds_of(root, "backoff").value_or(Millis{0});
  loop.timeout = seconds_of(root, "timeout").value_or(Millis{0});
}

/// The value in the type of the parameter, where its text means one; else the value itself.
Json converted(const Parameter& parameter, const Value& value) {
  const auto text = json::text(value);
  if (!text)
    return Json(value);
  if (parameter.type == "boolean" && (*text == "true" || *text == "false"))
    return *text == "true";
  if (parameter.type == "integer" || parameter.type == "number")
    if (const auto number = decimal(*text))
      return number_value(*number);
  return Json(value);
}

bool fits(const Parameter& parameter, const Value& value) {
  if (parameter.type == "integer")
    return json::integer(value).has_value();
  if (parameter.type == "number")
    return json::number(value).has_value();
  if (parameter.type == "boolean")
    return value.IsBool();
  if (parameter.type == "enum" && parameter.values->IsArray())
    return std::any_of(parameter.values->Begin(), parameter.values->End(),
                       [&](const Value& each) { return json::equal(each, value); });
  return true;
}

const Value* known_value(const Loop& loop, const Json& context, std::string_view name) {
  const Value* const given = json::child(*context, name);
  return given != nullptr ? given : json::child(*loop.context, name);
}

void add_value(const Loop& loop, std::string_view name, const Json& value, Json& context) {
  if (known_value(loop, context, name) == nullptr)
    context.set(name, value);
}

/// The values that a loop gets wherever it runs, with the defaults of the original.
void add_values_of_all(const Loop& loop, Json& context) {
  constexpr std::size_t kHashDigits = 12;
  if (const Value* const input = known_value(loop, context, "input"))
    if (const auto text = json::text(*input))
      add_value(loop, "input_hash", sha256_hex(*text).substr(0, kHashDigits), context);
  add_value(loop, "readiness_threshold", 85, context);
  add_value(loop, "outcome_threshold", 65, context);
}

std::string lack_of(const NeededValue& missing) {
  return "the state " + quoted_word(missing.state) + " needs the value " +
         quoted_word(missing.name) + ", and nobody gives it";
}

void add_texts(const Value& value, std::vector<std::string>& all) {
  if (const auto text = json::text(value))
    all.emplace_back(*text);
  else if (value.IsObject())
    for (const auto& member : value.GetObject())
      add_texts(member.value, all);
  else if (value.IsArray())
    for (const Value& item : value.GetArray())
      add_texts(item, all);
}

/// The texts of a state that fail it if a placeholder in them has no value.
std::vector<std::string> texts_filled_in(const LoopState& state) {
  std::vector<std::string> all = {state.action.value_or(""), state.loop, state.worktree,
                                  state.append_to_messages, state.next};
  if (!state.evaluate.is_null())
    all.push_back(text_of(*state.evaluate, "prompt"));
  for (const std::vector<Row>* const rows : {&state.route, &state.shorthand})
    for (const Row& row : *rows)
      all.push_back(row.target);
  add_texts(*state.with, all);
  add_texts(*state.param, all);
  return all;
}

bool empty(const Value* value) {
  return value == nullptr || value->IsNull() ||
         (value->IsString() && value->GetStringLength() == 0);
}

}  // namespace

const LoopState* Loop::state(std::string_view state_name) const {
  const auto found = std::find_if(states.begin(), states.end(),
                                  [&](const LoopState& each) { return each.name == state_name; });
  return found == states.end() ? nullptr : &*found;
}

Loop loop_of(const Value& definition) {
  Loop loop;
  loop.name = text_of(definition, "name");
  loop.generation =
      text_of(definition, "generation") == "modern" ? Generation::modern : Generation::v1;
  loop.initial = text_of(definition, "initial");
  loop.context = member_of(definition, "context");
  if (!loop.context->IsObject())
    loop.context = Json::object();
  loop.scope = texts_of(definition, "scope");
  limits(definition, loop);
  loop.maintain = json::boolean(definition, "maintain").value_or(false);
  if (const HandoffRow* const row = row_of(kHandoffs, text_of(definition, "on_handoff")))
    loop.on_handoff = row->handoff;
  loop.llm = llm_of(definition, loop.generation);
  loop.exit_code_aware = json::boolean(definition, "exit_code_aware").value_or(true);
  loop.singleton = json::boolean(definition, "singleton").value_or(false);
  loop.input_key = json::text(definition, "input_key").value_or("input");
  loop.required_inputs = texts_of(definition, "required_inputs");
  loop.parameters = parameters_of(definition);
  const StateReader reader(definition, loop.generation);
  for (const auto& member : members_in(definition, "states"))
    if (member.value.IsObject())
      loop.states.push_back(reader.read(std::string(json::name(member.name)), member.value));
  return loop;
}

std::optional<Evaluator> default_evaluator(const Loop& loop, const LoopState& state) {
  if (!state.action)
    return std::nullopt;
  if (state.action_type == ActionType::mcp_tool)
    return Evaluator::mcp_result;
  return state.by_agent() && loop.llm.enabled ? Evaluator::llm_structured : Evaluator::exit_code;
}

Result<void> fill_parameters(const Loop& loop, Json& context) {
  for (const Parameter& parameter : loop.parameters) {
    const Value* const given = json::child(*context, parameter.name);
    if (given == nullptr && !parameter.fallback.is_null()) {
      context.set(parameter.name, parameter.fallback);
      continue;
    }
    if (given == nullptr && json::child(*loop.context, parameter.name) != nullptr)
      continue;
    const bool of_run =
        std::find(kRunValues.begin(), kRunValues.end(), parameter.name) != kRunValues.end();
    if (given == nullptr && parameter.required && !of_run)
      return fail(Errc::usage, "the loop " + loop.name + " needs the parameter " +
                                   quoted_word(parameter.name) + "; `--set " + parameter.name +
                                   "=VALUE` gives it");
    if (given == nullptr)
      continue;
    // A placeholder gives a text.
    if (const Json value = converted(parameter, *given); fits(parameter, *value))
      context.set(parameter.name, value);
    else
      return fail(Errc::usage, "the parameter " + quoted_word(parameter.name) + " is of the type " +
                                   parameter.type + "; " + printable(json::dump(*given), 80) +
                                   " is not" +
                                   (parameter.type == "enum" && !parameter.values.is_null()
                                        ? " one of " + printable(parameter.values.dump(), 200)
                                        : ""));
  }
  return {};
}

Result<void> add_run_values(const Loop& loop, std::string_view run_dir, Json& context) {
  add_value(loop, "run_dir", std::string(run_dir), context);
  add_value(loop, "max_steps", loop.max_steps, context);
  if (loop.max_passes)
    add_value(loop, "max_iterations", *loop.max_passes, context);
  // baton has no design tokens. The loops that ask for them take an empty text for none.
  add_value(loop, "design_tokens_context", "", context);
  add_values_of_all(loop, context);
  const std::vector<NeededValue> needed = needed_values(loop);
  const NeededValue* const missing = missing_value(loop, context, needed);
  if (missing == nullptr)
    return {};
  const bool is_input = missing->name == loop.input_key;
  return fail(Errc::usage,
              lack_of(*missing) +
                  (is_input ? "; give it as INPUT, or with `--set " : "; add `--set ") +
                  printable(missing->name, 80) + "=VALUE`");
}

Result<void> add_inner_run_values(const Loop& loop, const Value& around, Json& context) {
  if (const Value* const run_dir = json::child(around, "run_dir"))
    add_value(loop, "run_dir", Json(*run_dir), context);
  add_values_of_all(loop, context);
  const std::vector<NeededValue> needed = needed_values(loop);
  if (const NeededValue* const missing = missing_value(loop, context, needed))
    return fail(Errc::usage, "in the loop " + quoted_word(loop.name) + " " + lack_of(*missing) +
                                 "; the `with` of this state has to");
  return {};
}

std::vector<NeededValue> needed_values(const Loop& loop) {
  std::vector<NeededValue> all;
  for (const LoopState& state : loop.states) {
    // The action of a terminal state runs only at a limit.
    if (state.terminal && state.name != loop.on_max_steps && state.name != loop.on_max_passes)
      continue;
    for (const std::string& text : texts_filled_in(state))
      for (const Placeholder& each : placeholders(text)) {
        const std::string name = each.path.substr(0, each.path.find('.'));
        if (each.space == "context" && each.fault.empty() && !each.may_miss() &&
            std::none_of(all.begin(), all.end(),
                         [&](const NeededValue& known) { return known.name == name; }))
          all.push_back({state.name, name});
      }
  }
  return all;
}

const NeededValue* missing_value(const Loop& loop, const Json& context,
                                 const std::vector<NeededValue>& needed) {
  const auto found = std::find_if(needed.begin(), needed.end(), [&](const NeededValue& each) {
    return known_value(loop, context, each.name) == nullptr;
  });
  return found == needed.end() ? nullptr : &*found;
}

void unpack_input(const Loop& loop, std::string_view input, Json& context) {
  const auto parsed = parse_json(input);
  const auto known = [&](std::string_view name) {
    return json::child(*loop.context, name) != nullptr ||
           std::any_of(loop.parameters.begin(), loop.parameters.end(),
                       [&](const Parameter& each) { return each.name == name; });
  };
  if (parsed && (*parsed)->IsObject() && !(*parsed)->ObjectEmpty() &&
      std::all_of((*parsed)->MemberBegin(), (*parsed)->MemberEnd(),
                  [&](const auto& member) { return known(json::name(member.name)); })) {
    context = merged(*context, **parsed);
    return;
  }
  context.set(loop.input_key, input);
}

Result<Json> complete_context(const Loop& loop, Json context) {
  if (auto filled = fill_parameters(loop, context); !filled)
    return pass_on(filled);
  const Json whole = merged(*loop.context, *context);
  for (const std::string& name : loop.required_inputs)
    if (empty(json::child(*whole, name)))
      return fail(Errc::usage, "the loop " + loop.name + " needs " + quoted_word(name) +
                                   "; `--set " + name + "=VALUE` gives it");
  return context;
}

}  // namespace baton::fsm_loop
