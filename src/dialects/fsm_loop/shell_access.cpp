// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/shell_access.h"

#include <algorithm>

#include "base/text.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

const Value* shell_options(const Json& options) {
  return json::child(*options, "shell");
}

/// Members whose placeholders baton does not fill in.
bool is_prose(const std::string& pointer, std::string_view name) {
  return name == "description" || (pointer.empty() && name == "context");
}

void check_text(std::string_view text, const std::string& pointer, const Json& options,
                FindingList& findings) {
  for (const Placeholder& each : placeholders(text))
    if (each.space == "env" && each.fault.empty() && !gives_variable(options, each.path))
      findings.error("S15", pointer,
                     "loops do not get the variable " + quoted_word(each.path) +
                         " of the daemon's environment; to give it to them, write `" +
                         variable_line(options, each.path) + "` in baton.yaml",
                     {.found = std::string(text.substr(each.begin, each.end - each.begin))});
}

/// Whether the state starts a program without an agent: a command, git or cat.
bool starts_program(const Value& body) {
  const Value* const evaluate = json::child(body, "evaluate");
  const auto evaluator = evaluate == nullptr ? std::nullopt : json::text(*evaluate, "type");
  return is_shell_action(body) || json::text(body, "worktree").value_or("") != "" ||
         evaluator == "diff_stall" || evaluator == "score_stall" ||
         evaluator == "open_question_stall";
}

void check_body(std::string_view name, const Value& body, const std::string& pointer,
                FindingList& findings) {
  if (json::boolean(body, "terminal") != true && starts_program(body))
    findings.error("S16", pointer,
                   "the state " + quoted_word(name) + " starts a program without an agent: " +
                       std::string(kShellForbidden) + "; " + std::string(kAllowShell));
}

}  // namespace

std::vector<std::string> listed_variables(const Json& options) {
  const Value* const shell = shell_options(options);
  return shell == nullptr ? std::vector<std::string>() : texts_of(*shell, "env");
}

bool gives_variable(const Json& options, std::string_view name) {
  const std::vector<std::string> listed = listed_variables(options);
  return std::find(kUsualVariables.begin(), kUsualVariables.end(), name) != kUsualVariables.end() ||
         name.starts_with("LC_") || name == "PWD" ||
         std::find(listed.begin(), listed.end(), name) != listed.end();
}

bool allows_shell(const Json& options) {
  const Value* const shell = shell_options(options);
  return shell == nullptr || json::boolean(*shell, "allow").value_or(true);
}

std::string variable_line(const Json& options, std::string_view name) {
  std::vector<std::string> names = listed_variables(options);
  names.push_back(printable(name, 80));
  return "dialects: { fsm_loop: { shell: { env: [" + join(names, ", ") + "] } } }";
}

void check_variables(const Value& root, const Json& options, FindingList& findings) {
  struct Spot {
    std::string pointer;
    const Value* value;
  };
  std::vector<Spot> open = {{"", &root}};
  while (!open.empty()) {
    const Spot here = std::move(open.back());
    open.pop_back();
    std::vector<Spot> inner;
    if (here.value->IsObject())
      for (const auto& member : here.value->GetObject()) {
        const std::string_view name = json::name(member.name);
        if (!is_prose(here.pointer, name))
          inner.push_back({member_pointer(here.pointer, name), &member.value});
      }
    else if (here.value->IsArray())
      for (std::size_t i = 0; i < here.value->Size(); ++i)
        inner.push_back(
            {item_pointer(here.pointer, i), &(*here.value)[static_cast<rapidjson::SizeType>(i)]});
    else if (const auto text = json::text(*here.value))
      check_text(*text, here.pointer, options, findings);
    open.insert(open.end(), inner.rbegin(), inner.rend());
  }
}

void check_shell(const Definition& definition, const Json& options, FindingList& findings) {
  if (allows_shell(options))
    return;
  for (const State& state : definition.states)
    check_body(state.name, *state.body, state.pointer, findings);
}

std::string access_fault(const Library& library, const Value& long_form, const Json& options) {
  for (const auto& [path, document] : library.files) {
    if (document == nullptr || !document->root().IsObject())
      continue;
    FindingList list("fsm_loop");
    check_variables(document->root(), options, list);
    for (const Finding& finding : list.take()) {
      const Position begin = document->locate(finding.pointer).begin;
      return path + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column) + ": " +
             finding.message;
    }
  }
  if (allows_shell(options))
    return {};
  FindingList list("fsm_loop");
  for (const auto& member : members_in(long_form, "states"))
    check_body(json::name(member.name), member.value, "", list);
  const Findings found = list.take();
  return found.empty() ? std::string() : found.front().message;
}

}  // namespace baton::fsm_loop
