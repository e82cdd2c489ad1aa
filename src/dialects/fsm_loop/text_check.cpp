#include "dialects/fsm_loop/text_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/fsm_loop/interpolation.h"
#include "dialects/fsm_loop/state_check.h"

namespace baton::fsm_loop {
namespace {

constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+=,-";

std::string spelled(std::string_view text, const Placeholder& each) {
  return std::string(text.substr(each.begin, each.end - each.begin));
}

/// A literal of the definition itself that no shell takes apart.
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
  if (value == nullptr)
    return false;
  const auto text = json::text(*value);
  return text ? text->find_first_not_of(kPlain) == std::string_view::npos
              : value->IsNumber() || value->IsBool();
}

void shell(const Value& root, const State& state, std::string_view action, FindingList& findings) {
  const std::vector<Placeholder> all = placeholders(action);
  // A value that is the whole action is meant to be a command.
  if (all.size() == 1 && all[0].begin == 0 && all[0].end == action.size())
    return;
  ShellQuotes quotes(action);
  for (const Placeholder& each : all) {
    if (!each.fault.empty() || quotes.quoted_at(each.begin))
      continue;
    // Exit codes and the like are numbers.
    if (each.shell || each.path.ends_with(".exit_code") || each.path == "exit_code" ||
        each.path.ends_with(".duration_ms") || harmless(root, each))
      continue;
    const std::string text = spelled(action, each);
    findings.warning("S27", member_pointer(state.pointer, "action"),
                     "the value of " + quoted_word(text) + " reaches the shell without quotes",
                     {.found = text, .suggestion = text.substr(0, text.size() - 1) + ":shell}"});
  }
}

void text(const State& state, const std::string& pointer, std::string_view value,
          FindingList& findings) {
  for (const Placeholder& each : placeholders(value))
    if (!each.fault.empty())
      findings.error("S9", pointer,
                     "in the state " + quoted_word(state.name) + " the placeholder " +
                         quoted_word(spelled(value, each)) + " cannot be filled in: " + each.fault,
                     {.found = spelled(value, each), .suggestion = each.meant});
}

/// `/usr/bin/make` is a program; without action_type it is told to an agent.
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
  if (is_shell_action(*state.body))
    shell(root, state, *action, findings);
}

void check_captured(const State& state, const std::set<std::string>& kept, bool initial,
                    FindingList& findings) {
  const auto action = json::text(*state.body, "action");
  if (!action || state.terminal())
    return;
  for (const Placeholder& each : captured(*action)) {
    const std::string name = each.path.substr(0, each.path.find('.'));
    const bool missing = each.space == "prev" ? initial : !kept.contains(name);
    if (!missing)
      continue;
    const std::vector<std::string_view> words(kept.begin(), kept.end());
    findings.warning(
        "S26", member_pointer(state.pointer, "action"),
        "the state " + quoted_word(state.name) + " may run before there is a value for " +
            quoted_word(spelled(*action, each)),
        {.found = spelled(*action, each),
         .expected = "a state before it with `capture: " + name + "`, or the suffix ? or :default=",
         .suggestion = each.space == "prev" ? "" : near_word(name, words)});
  }
}

}  // namespace baton::fsm_loop
