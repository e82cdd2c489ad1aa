// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/decide.h"
#include "dialects/agent_run/files.h"

namespace baton::agent_run {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A part of a variable's name: capitals and digits, with `_` for other characters.
std::string name_part(std::string_view id) {
  std::string name;
  for (const char c : upper(id))
    if (is_digit(c) || is_letter(c))
      name += c;
    else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U)  // the first byte of a character
      name += '_';
  return name;
}

std::string last_segment(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Variables issue_variables(const std::string& path) {
  const std::string name = last_segment(path);
  return {{"ISSUE_MARKDOWN_PATH", path},
          {"ISSUE_MARKDOWN_DIR", path.substr(0, path.size() - name.size() - 1)},
          {"ISSUE_MARKDOWN_FILENAME", name}};
}

bool is_issue(const std::string& path) {
  const std::string name = last_segment(path);
  return name.starts_with("gh_issue_") && name.ends_with(".md");
}

/// Adds the path where one step writes an issue and later steps find it. Only for agents that have
/// an ISSUE_NUMBER, and only variables that they do not have yet.
void add_expected_issue(const Snapshot& snapshot, const Step& step, Variables& env) {
  const auto given = of_role(snapshot.view.env.role_env, role_of(step), {});
  const auto value = [&](const std::string& name) {
    const auto set = snapshot.settings.set.find(name);
    if (set != snapshot.settings.set.end())
      return set->second;
    const auto own = given.find(name);
    return own == given.end() ? std::string() : own->second;
  };
  const std::string number = value("ISSUE_NUMBER");
  if (number.empty())
    return;
  const std::string folder = snapshot.paths.absolute(snapshot.paths.artifacts());
  for (auto& [name, text] : issue_variables(folder + "/gh_issue_" + number + ".md"))
    if (value(name).empty())
      env.emplace_back(name, text);
}

void add_dependencies(const Snapshot& snapshot, const Step& step, Variables& env) {
  std::optional<std::string> issue;
  for (const std::string& id : step.needs) {
    const std::string prefix = "DEP_" + name_part(id);
    std::vector<std::string> all;
    for (const Value& item : snapshot.record(id).artifacts->GetArray()) {
      const std::string path(json::text(item).value_or(""));
      all.push_back(
          normalized(path.starts_with('/') ? path : snapshot.paths.repository() + "/" + path));
      env.emplace_back(prefix + "_ARTIFACT_" + std::to_string(all.size() - 1), all.back());
      if (!issue && is_issue(all.back()))
        issue = all.back();
    }
    env.emplace_back(prefix + "_ARTIFACTS", join(all, ","));
  }
  if (!issue)
    return add_expected_issue(snapshot, step, env);
  for (auto& variable : issue_variables(*issue))
    env.push_back(std::move(variable));
}

void add_item(const StepRecord& record, const Value& loop, std::int64_t at, Variables& env) {
  const auto name = [&](std::string_view key, std::string_view otherwise) {
    return "LOOP_" + name_part(json::text(loop, key).value_or(otherwise));
  };
  const auto index = static_cast<rapidjson::SizeType>(at);
  if (record.loop_items.is_null() || index >= record.loop_items->Size())
    return;
  env.emplace_back(name("index_var", "index"), std::to_string(at));
  env.emplace_back(name("item_var", "item"), json::dump((*record.loop_items)[index]));
}

/// The log of the next start, with the counts that the record will have then.
std::string log_of(const Snapshot& snapshot, const Step& step) {
  StepRecord next = snapshot.record(step.id);
  if (next.status == Status::pending)
    ++next.executions;
  ++next.attempts;
  const auto memo = snapshot.memo.steps.find(step.id);
  const std::string name = snapshot.paths.log_name(
      step.id, next_log(next, memo == snapshot.memo.steps.end() ? StepMemo{} : memo->second));
  const std::string& folder = snapshot.settings.logs_dir;
  return (folder.empty() ? snapshot.paths.absolute(snapshot.paths.logs()) : folder) + "/" + name;
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  const Snapshot snapshot(view);
  const Step* const step = snapshot.workflow ? snapshot.workflow->step(desired.subject) : nullptr;
  if (step == nullptr)
    return brief;
  const StepRecord& record = snapshot.record(step->id);
  // An item of a parallel loop has the prompt of its step.
  const Step& own = step->of.empty() ? *step : *snapshot.workflow->step(step->of);
  const std::string prompt_path = snapshot.paths.prompt(own.id);
  if (const Accepted* const prompt = snapshot.document(prompt_path))
    brief.prompt = prompt->document->text();
  replace_all(brief.prompt, "{run_id}", view.flow.name);
  brief.state_file = snapshot.paths.state();
  brief.cwd = snapshot.paths.repository();
  brief.log = log_of(snapshot, *step);
  const bool asks = snapshot.settings.pause_for_human_input && needs_person(*step);
  const std::string manual =
      asks ? snapshot.paths.absolute(snapshot.paths.manual_input(step->id)) : std::string();
  const std::string model(json::text(*step->body, "model").value_or(""));
  brief.values = {{"agent", desired.role},
                  {"manual_input", manual},
                  {"model", model},
                  {"prompt", snapshot.paths.absolute(prompt_path)},
                  {"repo", snapshot.paths.repository()},
                  {"report", snapshot.paths.absolute(snapshot.paths.report(step->id))},
                  {"step_attempt", std::to_string(record.attempts + 1)},
                  {"step_id", step->id}};
  Variables& env = brief.env;
  env.assign(snapshot.settings.set.begin(), snapshot.settings.set.end());
  env.emplace_back("RUN_ID", view.flow.name);
  env.emplace_back("ARTIFACTS_DIR", snapshot.paths.absolute(snapshot.paths.artifacts()));
  constexpr std::pair<const char*, const char*> kVariables[] = {
      {"STEP_ID", "step_id"},
      {"AGENT_ID", "agent"},
      {"REPO_DIR", "repo"},
      {"PROMPT_PATH", "prompt"},
      {"REPORT_PATH", "report"},
      {"MANUAL_RESULT_PATH", "manual_input"},
      {"STEP_ATTEMPT", "step_attempt"}};
  for (const auto& [variable, name] : kVariables)
    env.emplace_back(variable, brief.values[name]);
  if (!model.empty())
    env.emplace_back("STEP_MODEL", model);
  if (const auto memo = snapshot.memo.steps.find(own.id);
      memo != snapshot.memo.steps.end() && !memo->second.reason.empty())
    env.emplace_back("LOOP_BACK_REASON", memo->second.reason);
  add_dependencies(snapshot, *step, env);
  if (const Value* const loop = loop_of(own))
    add_item(snapshot.record(own.id), *loop,
             step->of.empty() ? record.loop_index : static_cast<std::int64_t>(step->item), env);
  return brief;
}

}  // namespace baton::agent_run
