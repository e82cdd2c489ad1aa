// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/fsm_loop/words.h"
#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

namespace {

constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+=,-";

std::string spelled(std::string_view text, const Placeholder& each) {
  return std::string(text.substr(each.begin, each.end - each.begin));
}

/// Whether a value is safe without quotes: a plain literal of the definition, or a value that no
/// program has printed.
bool harmless(const Value& root, const Placeholder& each) {
  if (each.space != "context")
    return each.space != "captured" && each.space != "prev";
  const Value* value = json::child(root, "context");
  std::string_view rest = each.path;
  while (value != nullptr && !rest.empty()) {
    const auto dot = rest.find('.');
    value = json::child(*value, rest.substr(0, dot));
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  // A value of the start or an own one of the run, such as its folder.
  if (value == nullptr)
    return std::find(kRunValues.begin(), kRunValues.end(), each.path) != kRunValues.end();
  const auto text = json::text(*value);
  return text ? text->find_first_not_of(kPlain) == std::string_view::npos
              : value->IsNumber() || value->IsBool();
}

/// Members of captures that no program has printed.
bool is_word_or_number(std::string_view path) {
  constexpr std::array<std::string_view, 5> kMembers = {"exit_code", "duration_ms", "failure_type",
                                                        "timeout_kind", "terminated_by"};
  return std::find(kMembers.begin(), kMembers.end(), path.substr(path.rfind('.') + 1)) !=
         kMembers.end();
}

void shell(const Value& root, const State& state, std::string_view action, FindingList& findings) {
  const std::vector<Placeholder> all = placeholders(action);
  // A placeholder that is the whole action is meant as a command.
  if (all.size() == 1 && all[0].begin == 0 && all[0].end == action.size())
    return;
  ShellQuotes quotes(action);
  std::vector<std::string> told;
  for (const Placeholder& each : all) {
    if (!each.fault.empty() || quotes.quoted_at(each.begin))
      continue;
    if (each.shell || is_word_or_number(each.path) || harmless(root, each))
      continue;
    const std::string text = spelled(action, each);
    if (std::find(told.begin(), told.end(), text) != told.end())
      continue;
    told.push_back(text);
    findings.warning("S27", member_pointer(state.pointer, "action"),
                     "the value of " + quoted_word(text) + " reaches the shell without quotes",
                     {.found = text, .suggestion = text.substr(0, text.size() - 1) + ":shell}"});
  }
}

void text(const State& state, const std::string& pointer, std::string_view value,
          FindingList& findings) {
  for (const Placeholder& each : placeholders(value)) {
    if (each.fault.empty())
      continue;
    const std::string message = "in the state " + quoted_word(state.name) + " the placeholder " +
                                quoted_word(spelled(value, each)) +
                                " cannot be filled in: " + each.fault;
    const Detail detail = {.found = spelled(value, each), .suggestion = each.meant};
    // An expansion of the shell, as in `${loop.name:0:19}`: the original meets it only at run time.
    if (each.path.find(':') != std::string::npos)
      findings.warning("S9", pointer, message + "; the state fails when it is entered", detail);
    else
      findings.error("S9", pointer, message, detail);
  }
}

/// Warns about a program such as `/usr/bin/make`: without action_type an agent gets it.
void program(const State& state, std::string_view action, FindingList& findings) {
  const std::string_view word = action.substr(0, action.find_first_of(" \t\n"));
  if (json::child(*state.body, "action_type") != nullptr || !word.starts_with('/') ||
      word.find('/', 1) == std::string_view::npos)
    return;
  findings.warning("S25", member_pointer(state.pointer, "action"),
                   "an action that begins with / goes to an agent; " + quoted_word(word) +
                       " looks like a program",
                   {.found = std::string(word), .expected = "`action_type: shell` for a program"});
}

std::vector<Placeholder> captured(std::string_view value) {
  std::vector<Placeholder> found;
  for (Placeholder& each : placeholders(value))
    if ((each.space == "captured" || each.space == "prev") && !each.may_miss() &&
        each.fault.empty())
      found.push_back(std::move(each));
  return found;
}

constexpr std::array<std::string_view, 15> kKnownRoutes = {"on_success",
                                                           "on_failure",
                                                           "on_error",
                                                           "on_yes",
                                                           "on_no",
                                                           "on_partial",
                                                           "on_blocked",
                                                           "on_target",
                                                           "on_progress",
                                                           "on_stall",
                                                           "on_cannot_judge",
                                                           "on_maintain",
                                                           "on_retry_exhausted",
                                                           "on_rate_limit_exhausted",
                                                           "on_throttle_hard"};

/// The known key that an unknown key almost equals. Empty if there is none.
std::string_view nearly(std::string_view key) {
  if (std::find(kKnownRoutes.begin(), kKnownRoutes.end(), key) != kKnownRoutes.end())
    return {};
  for (const std::string_view known : kKnownRoutes) {
    // Every word of two letters is two edits away from "no".
    const std::size_t slips = known.size() <= 6 ? 1 : 2;
    if (edit_distance(key, known) <= slips)
      return known;
  }
  return {};
}

class StateCheck {
 public:
  StateCheck(const Value& root, const State& state, FindingList& findings)
      : root_(root), state_(state), body_(*state.body), findings_(findings) {}

  void run() {
    check_state_keys(body_, state_.pointer, findings_);
    ways();
    spelling();
    words();
    action_type();
    throttle();
    // Another file may complete an open state.
    const Value* const evaluate = json::child(body_, "evaluate");
    if (!state_.open)
      together();
    if (evaluate != nullptr && state_.open)
      check_evaluate_keys(*evaluate, at("evaluate"), findings_);
    else if (evaluate != nullptr)
      check_evaluate(*evaluate, at("evaluate"), findings_);
    check_texts(root_, state_, findings_);
  }

 private:
  bool has(std::string_view key) const { return json::child(body_, key) != nullptr; }
  std::string at(std::string_view key) const { return member_pointer(state_.pointer, key); }

  void ways() {
    bool shorthand = false;
    for (const auto& member : body_.GetObject())
      shorthand = shorthand || is_verdict_key(member.name.GetString());
    if (state_.terminal()) {
      const bool summary = json::text(root_, "on_max_steps") == state_.name ||
                           json::text(root_, "on_max_iterations") == state_.name;
      if (has("action") && !summary && json::boolean(root_, "terminal_action_ok") != true)
        findings_.warning("S29", at("action"),
                          "a terminal state runs no action; this one never runs");
      return;
    }
    const Value* const route = json::child(body_, "route");
    const bool routed = route != nullptr && !(route->IsObject() && route->ObjectEmpty());
    const bool leads = shorthand || routed || has("next") || state_.open;
    if (!leads && has("loop"))
      findings_.warning("S36", at("loop"),
                        "the loop in the state " + quoted_word(state_.name) +
                            " has no next state, so the loop around it fails when it ends",
                        {.expected = "next, route, on_success and its like"});
    else if (!leads)
      findings_.error(
          "S4", state_.pointer,
          "the state " + quoted_word(state_.name) + " has no next state and is not terminal",
          {.expected = "next, route, on_success and its like, or `terminal: true`"});
    if (shorthand && route != nullptr)
      findings_.warning("S20", at("route"), "`route` is used, and the on_ keys beside it are not");
    if (route != nullptr && json::child(*route, "_") != nullptr &&
        json::child(*route, "_error") != nullptr)
      findings_.warning("S33", at("route") + "/_error",
                        "an error goes to `_error` here; with the original it goes to `_`");
  }

  /// Finds typing errors. `on_` with any word is a valid target for that verdict, so nothing else
  /// would notice them.
  void spelling() {
    for (const auto& member : body_.GetObject()) {
      const std::string_view key = json::name(member.name);
      if (!key.starts_with("on_") ||
          is_declared_verdict(json::child(body_, "evaluate"), key.substr(3)))
        continue;
      if (const std::string_view known = nearly(key); !known.empty())
        findings_.error("S6", at(key),
                        "the key " + quoted_word(key) + " is nearly " + quoted_word(known),
                        {.found = std::string(key), .suggestion = std::string(known)});
    }
  }

  /// Finds words of `route` that almost equal a known verdict. No evaluator returns them.
  void words() {
    const Value* const evaluate = json::child(body_, "evaluate");
    for (const auto& member : members_in(body_, "route")) {
      const std::string_view word = json::name(member.name);
      constexpr std::size_t kShort = 3;  // any two letters are nearly "no"
      if (word.size() <= kShort || word.starts_with('_') || is_declared_verdict(evaluate, word))
        continue;
      if (const std::string_view known = nearly("on_" + std::string(word)); !known.empty())
        findings_.warning("S35", member_pointer(at("route"), word),
                          "no evaluator says " + quoted_word(word),
                          {.found = std::string(word), .suggestion = std::string(known.substr(3))});
    }
  }

  void action_type() {
    const auto type = json::text(body_, "action_type");
    if (json::text(body_, "type") == "learning")
      not_supported("type", "states of the type \"learning\"");
    if (!type)
      return;
    const ActionRow* const row = row_of(kActions, *type);
    const Detail detail = none_of_words(*type, words_of(kActions));
    if (row == nullptr && !detail.suggestion.empty())
      findings_.error("S5", at("action_type"), "there is no action_type " + quoted_word(*type),
                      detail);
    else if (row == nullptr || !row->supported)
      not_supported("action_type", "actions of the type " + quoted_word(*type));
  }

  void not_supported(std::string_view key, const std::string& what) {
    findings_.warning("S31", at(key),
                      "baton does not carry out " + what + std::string(kRefusedStart));
  }

  void pair(bool wrong, std::string_view key, const std::string& message) {
    if (wrong)
      findings_.error("S7", at(key), message);
  }

  void together() {
    const bool mcp = json::text(body_, "action_type") == "mcp_tool";
    pair(has("worktree") && !has("loop") && !state_.open, "worktree",
         "only a `loop` can have a worktree");
    pair(has("max_retries") && !has("on_retry_exhausted"), "max_retries",
         "max_retries needs on_retry_exhausted");
    pair(has("on_retry_exhausted") && !has("max_retries") && !has("retryable_exit_codes"),
         "on_retry_exhausted", "on_retry_exhausted needs max_retries");
    pair(has("retryable_exit_codes") && !has("on_error"), "retryable_exit_codes",
         "retryable_exit_codes needs on_error");
    pair(has("max_rate_limit_retries") && !has("on_rate_limit_exhausted"), "max_rate_limit_retries",
         "max_rate_limit_retries needs on_rate_limit_exhausted");
    pair(has("on_rate_limit_exhausted") && !has("max_rate_limit_retries"),
         "on_rate_limit_exhausted", "on_rate_limit_exhausted needs max_rate_limit_retries");
    pair(has("on_throttle_hard") && !has("throttle"), "on_throttle_hard",
         "on_throttle_hard needs throttle");
    pair(has("params") && !mcp && has("action"), "params",
         "params are for action_type mcp_tool only");
    pair(has("loop") && has("action"), "loop", "a state runs a loop or an action, not both");
    pair(has("with") && !has("loop") && !has("fragment"), "with", "with needs loop or fragment");
    pair(has("context_passthrough") && !has("loop"), "context_passthrough",
         "context_passthrough needs loop");
    pair(has("with") && json::boolean(body_, "context_passthrough") == true, "with",
         "with and context_passthrough exclude each other");
  }

  void throttle() {
    const Value* const throttle = json::child(body_, "throttle");
    if (throttle == nullptr)
      return;
    // Only numbers that are written are compared, as in the original.
    std::string written;
    bool rises = true;
    std::int64_t before = 0;
    for (const char* const key : {"normal_max", "warn_max", "hard_max"}) {
      const auto most = json::integer(*throttle, key);
      if (!most)
        continue;
      rises = rises && *most > before;
      before = *most;
      written += (written.empty() ? "" : ", ") + std::to_string(*most);
    }
    if (!rises)
      findings_.error("S7", at("throttle"),
                      "normal_max, warn_max and hard_max must rise: " + written);
    const auto target = json::text(body_, "on_throttle_hard").value_or("");
    pair(target == state_.name || target == "$current", "on_throttle_hard",
         "on_throttle_hard leads back to the state that must not be entered again");
  }

  const Value& root_;
  const State& state_;
  const Value& body_;
  FindingList& findings_;
};

}  // namespace

void check_texts(const Value& root, const State& state, FindingList& findings) {
  for (const Reference& reference : references(state))
    text(state, reference.pointer, reference.target, findings);
  if (const auto messages = json::text(*state.body, "append_to_messages")) {
    const std::string pointer = member_pointer(state.pointer, "append_to_messages");
    if (!computed(*messages))
      findings.error("S7", pointer, "append_to_messages needs a placeholder",
                     {.found = std::string(*messages), .expected = "a text with ${...}"});
    text(state, pointer, *messages, findings);
  }
  const auto action = json::text(*state.body, "action");
  if (!action)
    return;
  text(state, member_pointer(state.pointer, "action"), *action, findings);
  program(state, *action, findings);
  // The fragment of an open state may give it to an agent.
  if (is_shell_action(*state.body) &&
      (!state.open || json::child(*state.body, "action_type") != nullptr))
    shell(root, state, *action, findings);
}

void check_captured(const Definition& definition, std::size_t index, const Graph& graph,
                    FindingList& findings) {
  const State& state = definition.states[index];
  const auto action = json::text(*state.body, "action");
  if (!action || state.terminal())
    return;
  std::vector<std::string_view> known;
  // The fragment of an open state may capture anything.
  bool open = false;
  for (const State& each : definition.states) {
    open = open || each.open;
    for (const std::string_view name : captures_of(each))
      known.push_back(name);
  }
  for (const Placeholder& each : captured(*action)) {
    const std::string name = each.path.substr(0, each.path.find('.'));
    const bool previous = each.space == "prev";
    const bool ever = std::find(known.begin(), known.end(), name) != known.end();
    if (previous ? state.name != text_of(*definition.root, "initial")
                 : (ever && !graph.reachable(name)[index]) || (!ever && open))
      continue;
    findings.warning(
        "S26", member_pointer(state.pointer, "action"),
        "the state " + quoted_word(state.name) + " may run before there is a value for " +
            quoted_word(spelled(*action, each)),
        {.found = spelled(*action, each),
         .expected = "a state before it with `capture: " + name + "`, or the suffix ? or :default=",
         .suggestion = previous || ever ? "" : near_word(name, known)});
  }
}

void check_state_body(const Value& root, const State& state, FindingList& findings) {
  StateCheck(root, state, findings).run();
}

bool is_shell_action(const Value& body) {
  const auto action = json::text(body, "action");
  if (!action)
    return false;
  const auto type = json::text(body, "action_type");
  return type ? *type == "shell" : !action->starts_with('/');
}

}  // namespace baton::fsm_loop
