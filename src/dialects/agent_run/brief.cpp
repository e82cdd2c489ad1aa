#include <optional>
#include <utility>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (const char c : text)
    if (!fits(c))
      return false;
  return !text.empty();
}

/// A part of a variable's name: capitals, and `_` for whatever no name may hold.
std::string name_part(std::string_view id) {
  std::string name;
  for (const char c : upper(id))
    if (is_name(std::string_view(&c, 1)))
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

/// Where the step that fetches an issue is to put it, and where others find it: for who has an
/// ISSUE_NUMBER, and says nothing else.
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

void add_item(const StepRecord& record, const Value& loop, Variables& env) {
  const auto name = [&](std::string_view key, std::string_view otherwise) {
    return "LOOP_" + name_part(json::text(loop, key).value_or(otherwise));
  };
  const auto index = static_cast<rapidjson::SizeType>(record.loop_index);
  if (record.loop_items.is_null() || index >= record.loop_items->Size())
    return;
  env.emplace_back(name("index_var", "index"), std::to_string(record.loop_index));
  env.emplace_back(name("item_var", "item"), json::dump((*record.loop_items)[index]));
}

/// The log of the start that is about to be made, as the record will have it.
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

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  const Snapshot snapshot(view);
  const Step* const step = snapshot.workflow ? snapshot.workflow->step(desired.subject) : nullptr;
  if (step == nullptr)
    return brief;
  const StepRecord& record = snapshot.record(step->id);
  const std::string prompt_path = snapshot.paths.prompt(step->id);
  if (const Accepted* const prompt = snapshot.document(prompt_path))
    brief.prompt = replaced(prompt->document->text(), "{run_id}", view.flow.name);
  brief.state_file = snapshot.paths.state();
  brief.cwd = snapshot.paths.repository();
  brief.log = log_of(snapshot, *step);
  const bool asks = snapshot.settings.pause_for_human_input && needs_person(*step);
  const std::string manual =
      asks ? snapshot.paths.absolute(snapshot.paths.manual_input(step->id)) : std::string();
  const std::string attempt = std::to_string(record.attempts + 1);
  const std::string model(json::text(*step->body, "model").value_or(""));
  Variables& env = brief.env;
  for (const auto& [name, value] : snapshot.settings.set)
    env.emplace_back(name, value);
  env.emplace_back("RUN_ID", view.flow.name);
  env.emplace_back("STEP_ID", step->id);
  env.emplace_back("AGENT_ID", desired.role);
  env.emplace_back("REPO_DIR", snapshot.paths.repository());
  env.emplace_back("PROMPT_PATH", snapshot.paths.absolute(prompt_path));
  env.emplace_back("REPORT_PATH", snapshot.paths.absolute(snapshot.paths.report(step->id)));
  env.emplace_back("MANUAL_RESULT_PATH", manual);
  env.emplace_back("STEP_ATTEMPT", attempt);
  env.emplace_back("ARTIFACTS_DIR", snapshot.paths.absolute(snapshot.paths.artifacts()));
  if (!model.empty())
    env.emplace_back("STEP_MODEL", model);
  if (const auto memo = snapshot.memo.steps.find(step->id);
      memo != snapshot.memo.steps.end() && !memo->second.reason.empty())
    env.emplace_back("LOOP_BACK_REASON", memo->second.reason);
  add_dependencies(snapshot, *step, env);
  if (const Value* const loop = loop_of(*step))
    add_item(record, *loop, env);
  brief.values = {{"agent", desired.role},
                  {"manual_input", manual},
                  {"model", model},
                  {"prompt", snapshot.paths.absolute(prompt_path)},
                  {"repo", snapshot.paths.repository()},
                  {"report", snapshot.paths.absolute(snapshot.paths.report(step->id))},
                  {"step_attempt", attempt},
                  {"step_id", step->id}};
  return brief;
}

}  // namespace baton::agent_run
