// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

constexpr std::array<std::string_view, 10> kOfTheForm = {
    "goal",      "tools",       "check", "toward", "using",
    "tolerance", "constraints", "steps", "until",  "evaluator"};
constexpr const char* kPrevious = "previous_value";

bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || !is_ascii(c);
}

/// A name from a goal, such as `goal-fix-all-type-errors`: lower case, hyphens between words, at
/// most 50 characters.
std::string slug(std::string_view goal) {
  constexpr std::size_t kCharacters = 50;
  std::string name;
  bool gap = false;
  for (const char c : lower(goal)) {
    if (is_word(c)) {
      if (gap && !name.empty())
        name += '-';
      gap = false;
      name += c;
    }
    gap = gap || c == ' ' || c == '-' || c == '\t' || c == '\n' || c == '\r';
  }
  std::size_t characters = 0;
  std::size_t end = 0;
  for (; end < name.size(); ++end)
    if ((static_cast<unsigned char>(name[end]) & 0xC0U) != 0x80U && characters++ == kCharacters)
      break;
  name.resize(end);
  while (name.ends_with('-'))
    name.pop_back();
  return name;
}

Json terminal() {
  return Json::object({{"terminal", true}});
}

/// Adds the short form's evaluator; exit_code is the default.
void add_evaluator(const Value& holder, Json& body) {
  const Value* const given = json::child(holder, "evaluator");
  if (given == nullptr || !given->IsObject() ||
      json::text(*given, "type").value_or("exit_code") == "exit_code")
    return;
  Json evaluate = Json::object();
  for (const char* const key : {"type", "pattern", "operator", "target"})
    if (const Value* const value = json::child(*given, key))
      evaluate.set(key, *value);
  body.set("evaluate", evaluate);
}

void compile_goal(const Value& root, ShortForm& form) {
  const Value& tools = *json::child(root, "tools");
  const auto count = tools.Size();
  Json check = Json::object({{"action", Json(tools[0])},
                             {"on_success", "done"},
                             {"on_failure", "fix"},
                             {"on_error", "fix"}});
  add_evaluator(root, check);
  if (json::child(root, "name") == nullptr)
    form.root.set("name", "goal-" + slug(text_of(root, "goal")));
  form.root.set("initial", "evaluate");
  form.states.push_back({"evaluate", "/tools/0", std::move(check)});
  form.states.push_back(
      {"fix", count > 1 ? "/tools/1" : "/tools/0",
       Json::object({{"action", Json(tools[count > 1 ? 1 : 0])}, {"next", "evaluate"}})});
  form.states.push_back({"done", "/goal", terminal()});
}

/// Puts a value into the context and returns a placeholder for it. Returns a text with placeholders
/// as it is, because baton does not fill in values of the context.
std::string by_context(const std::string& name, const Json& value, Json& context) {
  context.set(name, value);
  const auto text = json::text(*value);
  return text && text->find("${") != std::string_view::npos ? std::string(*text)
                                                            : "${context." + name + "}";
}

/// The form needs a capture of its own for the last measurement. `prev` belongs to the state
/// between two measurements.
void compile_convergence(const Value& root, ShortForm& form) {
  const Value* const tolerance = json::child(root, "tolerance");
  Json context = Json::object();
  for (const auto& member : members_in(root, "context"))
    context.set(json::name(member.name), member.value);
  const std::string check = text_of(root, "check");
  Json measure = Json::object({{"action", by_context("metric_cmd", check, context)},
                               {"action_type", check.starts_with('/') ? "slash_command" : "shell"},
                               {"capture", "current_value"}});
  measure.set(
      "evaluate",
      Json::object(
          {{"type", "convergence"},
           {"target", by_context("target", Json(*json::child(root, "toward")), context)},
           {"tolerance",
            by_context("tolerance", tolerance == nullptr ? Json(0) : Json(*tolerance), context)},
           {"previous", "${captured." + std::string(kPrevious) + ".output?}"},
           {"remember", kPrevious}}));
  measure.set("route",
              Json::object({{"target", "done"}, {"progress", "apply"}, {"stall", "done"}}));
  form.root.set("context", context);
  form.root.set("initial", "measure");
  form.states.push_back({"measure", "/check", std::move(measure)});
  form.states.push_back(
      {"apply", "/using", Json::object({{"action", text_of(root, "using")}, {"next", "measure"}})});
  form.states.push_back({"done", "/toward", terminal()});
}

void compile_invariants(const Value& root, ShortForm& form) {
  const Value& constraints = *json::child(root, "constraints");
  const auto check_of = [&](rapidjson::SizeType index) {
    return index < constraints.Size() ? "check_" + text_of(constraints[index], "name")
                                      : std::string("all_valid");
  };
  for (rapidjson::SizeType i = 0; i < constraints.Size(); ++i) {
    const std::string fix = "fix_" + text_of(constraints[i], "name");
    const std::string pointer = item_pointer("/constraints", i);
    Json check = Json::object({{"action", text_of(constraints[i], "check")},
                               {"on_success", check_of(i + 1)},
                               {"on_failure", fix}});
    add_evaluator(constraints[i], check);
    form.states.push_back({check_of(i), pointer, std::move(check)});
    form.states.push_back(
        {fix, pointer,
         Json::object({{"action", text_of(constraints[i], "fix")}, {"next", check_of(i)}})});
  }
  Json end = terminal();
  if (json::boolean(root, "maintain") == true)
    end.set("on_maintain", check_of(0));
  form.root.set("initial", check_of(0));
  form.states.push_back({"all_valid", "/constraints", std::move(end)});
}

void compile_imperative(const Value& root, ShortForm& form) {
  const Value& steps = *json::child(root, "steps");
  const Value& until = *json::child(root, "until");
  for (rapidjson::SizeType i = 0; i < steps.Size(); ++i) {
    const std::string next =
        i + 1 < steps.Size() ? "step_" + std::to_string(i + 1) : std::string("check_done");
    form.states.push_back({"step_" + std::to_string(i), item_pointer("/steps", i),
                           Json::object({{"action", Json(steps[i])}, {"next", next}})});
  }
  Json check = Json::object(
      {{"action", text_of(until, "check")}, {"on_success", "done"}, {"on_failure", "step_0"}});
  add_evaluator(until, check);
  form.root.set("initial", "step_0");
  form.states.push_back({"check_done", "/until", std::move(check)});
  form.states.push_back({"done", "/until", terminal()});
}

}  // namespace

bool is_short_form(const Value& root) {
  const auto paradigm = json::text(root, "paradigm");
  return paradigm && *paradigm != "fsm" && json::child(root, "initial") == nullptr;
}

ShortForm compiled(const Value& root) {
  ShortForm form;
  form.root = Json(root);
  for (const std::string_view key : kOfTheForm)
    form.root.erase(key);
  const auto paradigm = json::text(root, "paradigm");
  if (paradigm == "goal")
    compile_goal(root, form);
  else if (paradigm == "convergence")
    compile_convergence(root, form);
  else if (paradigm == "invariants")
    compile_invariants(root, form);
  else if (paradigm == "imperative")
    compile_imperative(root, form);
  return form;
}

}  // namespace baton::fsm_loop
