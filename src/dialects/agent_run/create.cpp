// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/snapshot.h"
#include "dialects/agent_run/variables.h"
#include "dialects/findings.h"

namespace baton::agent_run {
namespace {

constexpr std::array<std::string_view, 10> kArguments = {
    "workflow",        "workflow_path",  "prompts",
    "max_attempts",    "max_iterations", "pause_for_human_input",
    "gate_state_file", "logs_dir",       "set",
    "start_at_step"};
constexpr std::array<std::string_view, 7> kSettings = {
    "max_attempts", "max_iterations", "pause_for_human_input", "gate_state_file", "logs_dir",
    "set",          "workflow_path"};

tl::unexpected<Error> wrong(const std::string& message) {
  return fail(Errc::usage, message);
}

Result<void> check_arguments(const Value& arguments) {
  if (!arguments.IsObject())
    return {};
  for (const auto& member : arguments.GetObject()) {
    const std::string_view name = json::name(member.name);
    if (std::find(kArguments.begin(), kArguments.end(), name) == kArguments.end())
      return wrong("`" + printable(name, 60) + "` is not an argument of a workflow run");
  }
  for (const char* const name : {"max_attempts", "max_iterations"})
    if (json::child(arguments, name) != nullptr && json::integer(arguments, name).value_or(0) < 1)
      return wrong(std::string(name) + " must be a whole number from 1");
  return {};
}

/// The arguments that the run state keeps, merged into `settings`.
Result<Json> kept_settings(const Value& arguments, Json settings) {
  for (const std::string_view name : kSettings) {
    const Value* const value = json::child(arguments, name);
    if (value == nullptr)
      continue;
    if (name != "set") {
      settings.set(name, *value);
      continue;
    }
    if (!value->IsObject())
      return wrong("`set` must be an object");
    const Value* const before = json::child(*settings, name);
    Json all = before == nullptr ? Json::object() : Json(*before);
    for (const auto& member : value->GetObject()) {
      const std::string key(json::name(member.name));
      if (!is_variable(key))
        return wrong("`" + printable(key, 60) + "` is not a valid name of an environment variable");
      if (steers_programs(key))
        return wrong("`--set " + printable(key, 60) +
                     "=...` is refused: the variable says what programs load, execute or connect "
                     "to, or is baton's own. Set it for a role in baton.yaml: `agents: { ROLE: { "
                     "env: { set: { " +
                     printable(key, 60) + ": ... } } } }`");
      all.set(key, Json(std::string(json::text(member.value).value_or(json::dump(member.value)))));
    }
    settings.set(name, all);
  }
  return settings;
}

struct Given {
  std::shared_ptr<const Document> document;
  std::optional<Workflow> workflow;
};

Result<Given> workflow_of(const Value& arguments) {
  Given given;
  const auto text = json::text(arguments, "workflow");
  if (!text)
    return given;
  auto document = load_document(std::string(*text), Format::yaml);
  if (!document)
    return fail(Errc::schema,
                "the workflow cannot be read: " + document.error().findings.front().message);
  given.document = std::move(*document);
  given.workflow.emplace(given.document->root());
  for (const Step& step : given.workflow->steps()) {
    if (!step.body->IsObject())
      return fail(Errc::schema, "a step must be a map", step.pointer);
    if (json::child(arguments, "prompts") != nullptr &&
        !json::text(*json::child(arguments, "prompts"), step.id))
      return wrong("there is no prompt for the step " + quoted_word(step.id));
  }
  if (given.workflow->steps().empty())
    return fail(Errc::schema, "the workflow has no steps");
  for (const Finding& finding : check_workflow(given.document->root()))
    if (finding.severity == Severity::error)
      return fail(Errc::schema, "the workflow is not valid: " + finding.message, finding.pointer);
  return given;
}

/// Creates folders that agents expect and do not create.
void make_folders(const RunPaths& paths, bool essential, std::vector<Update>& updates) {
  for (const std::string& folder :
       {paths.artifacts(), paths.reports(), paths.manual_inputs(), paths.logs()})
    updates.emplace_back(
        Create{folder + "/.keep", "", "a folder for agents and people", essential});
}

/// Writes the run's copies of workflow and prompts. Keeps a copy with the same text, and replaces
/// any other.
std::vector<Update> pinned(const View& view, const Value& arguments, const Given& given) {
  const RunPaths paths(view);
  std::vector<Update> updates;
  const auto put = [&](const std::string& path, const std::string& text) {
    const std::string why = "the run uses the workflow from its start";
    const auto there = view.docs.find(path);
    if (there == view.docs.end())
      updates.emplace_back(Create{path, text, why});
    else if (there->second.document->text() != text)
      updates.emplace_back(Replace{path, there->second.document->digest(), text, why});
  };
  put(paths.workflow(), given.document->text());
  if (const Value* const prompts = json::child(arguments, "prompts"); prompts != nullptr)
    for (const Step& step : given.workflow->steps())
      put(paths.prompt(step.id), std::string(json::text(*prompts, step.id).value_or("")));
  return updates;
}

Result<std::vector<Update>> begin(const View& view, const Value& arguments, const Given& given) {
  const RunPaths paths(view);
  if (!given.workflow)
    return wrong("there is no run " + printable(view.flow.name, 80) +
                 "; to start one, name its workflow file: `baton start WORKFLOW.yaml`");
  if (json::child(arguments, "start_at_step") != nullptr)
    return wrong("there is no run " + printable(view.flow.name, 80) +
                 " to continue: --start-at-step needs an existing run");
  constexpr std::size_t kLongest = 64;
  if (view.flow.name.size() > kLongest)
    return wrong("a run id has at most 64 characters");
  auto settings = kept_settings(arguments, Json::object());
  if (!settings)
    return pass_on(settings);
  Json steps = Json::object();
  for (const Step& step : given.workflow->steps())
    steps.set(step.id, json_of(StepRecord{}));
  const std::string now = stamp(view.wall);
  const Json state = Json::object(
      {{"run_id", view.flow.name},
       {"workflow_name", json::text(given.document->root(), "name").value_or("unnamed")},
       {"repo_dir", paths.repository()},
       {"reports_dir", paths.absolute(paths.reports())},
       {"manual_inputs_dir", paths.absolute(paths.manual_inputs())},
       {"created_at", now},
       {"updated_at", now},
       {"status", word(RunStatus::running)},
       {"options", *settings},
       {"steps", steps}});
  std::vector<Update> updates = pinned(view, arguments, given);
  make_folders(paths, true, updates);
  // The run state comes last, because it starts the run.
  updates.emplace_back(Create{paths.state(), state.pretty(), "a new run"});
  return updates;
}

/// `--start-at-step`: resets the step and all later ones. Other finished steps stay.
Result<void> reset_from(Snapshot& snapshot, const std::string& id) {
  const Step* const first = snapshot.workflow->step(id);
  if (first == nullptr)
    return wrong(snapshot.workflow->no_step(id));
  for (const Run& run : snapshot.view.runs)
    if (run.live())
      return wrong("agents of the run are running; `baton stop " + snapshot.view.flow.name +
                   "` first, or wait for them");
  for (const Step& step : snapshot.workflow->steps()) {
    StepRecord& record = snapshot.record(step.id);
    if (step.id != id && !snapshot.workflow->ancestors(step).contains(id))
      continue;
    record.reset();
    record.iterations = 0;
    record.last_gate_failure.reset();
  }
  snapshot.run.status = RunStatus::running;
  return {};
}

/// Uses the given workflow from now on. Skips unfinished steps that it does not have any more, and
/// adds new steps.
void adopt(Snapshot& snapshot, const Value& arguments, const Given& given,
           std::vector<Update>& updates) {
  updates = pinned(snapshot.view, arguments, given);
  for (const Step& step : given.workflow->steps())
    snapshot.run.steps.try_emplace(step.id);
  for (auto& [id, record] : snapshot.run.steps)
    if (given.workflow->step(id) == nullptr && !record.done())
      record.status = Status::skipped;
  snapshot.workflow = given.workflow;
}

/// D-AO-9: makes absolute artifacts of another program relative, if they are in the repository or
/// where the repository was before.
Json relative_artifacts(const RunPaths& paths, const std::string& before, const Json& artifacts) {
  Json all = Json::array();
  for (const Value& item : items_in(&*artifacts)) {
    const std::string path(json::text(item).value_or(""));
    const bool moved = !before.empty() && within(path, before) && path.size() > before.size();
    all.push(path.empty() ? Json(item)
                          : Json(moved ? path.substr(before.size() + 1) : paths.relative(path)));
  }
  return all;
}

/// Gives a run the paths of its present folder. The run may have been moved, or its repository may
/// have been named through a link.
std::vector<json::Edit> update_paths(Snapshot& snapshot) {
  const Value& root = snapshot.state->document->root();
  const RunPaths& paths = snapshot.paths;
  std::string before(json::text(root, "repo_dir").value_or(""));
  while (before.ends_with('/'))
    before.pop_back();
  const auto move = [&](std::optional<std::string>& path) {
    if (path && within(*path, before))
      path = paths.repository() + path->substr(before.size());
  };
  std::vector<json::Edit> edits;
  const auto set = [&](std::string_view key, const std::string& path) {
    if (json::text(root, key) != path)
      edits.push_back(json::Edit{"/" + std::string(key), Json(path).dump()});
  };
  if (before != paths.repository())
    for (auto& [id, record] : snapshot.run.steps) {
      move(record.report_path);
      move(record.manual_input_path);
    }
  for (auto& [id, record] : snapshot.run.steps)
    record.artifacts = relative_artifacts(paths, before, record.artifacts);
  set("repo_dir", paths.repository());
  set("reports_dir", paths.absolute(paths.reports()));
  set("manual_inputs_dir", paths.absolute(paths.manual_inputs()));
  return edits;
}

/// Refuses a workflow file that differs from the run's copy. A run continues with the workflow of
/// its start, unless start_at_step is given.
Result<void> unchanged(const Snapshot& snapshot, const Value& arguments, const Given& given) {
  for (const Update& update : pinned(snapshot.view, arguments, given))
    if (const auto* const copy = std::get_if<Replace>(&update))
      return wrong(
          "the run " + printable(snapshot.view.flow.name, 80) + " uses its own copy " + copy->path +
          ", which differs from the given file; --start-at-step STEP replaces the copy and "
          "starts again at that step");
  return {};
}

/// Refuses a workflow with another name than the run's. A mistake here would replace all its steps.
Result<void> same_workflow(const Snapshot& snapshot, const Given& given) {
  const auto name =
      json::text(snapshot.state->document->root(), "workflow_name").value_or("unnamed");
  const auto other =
      given.workflow ? json::text(given.document->root(), "name").value_or("unnamed") : name;
  if (name == other)
    return {};
  return wrong("the run " + printable(snapshot.view.flow.name, 80) + " belongs to the workflow " +
               quoted_word(name) + ", but the file is the workflow " + quoted_word(other));
}

/// Takes over a run of another program.
Result<void> take_over(Snapshot& snapshot, const Value& arguments, const Given& given,
                       std::vector<Update>& updates) {
  if (!given.workflow)
    return wrong("the run " + printable(snapshot.view.flow.name, 80) +
                 " is run by another program; " + take_over_hint(snapshot.view));
  adopt(snapshot, arguments, given, updates);
  // git keeps no empty folders, so a run from git may lack them.
  make_folders(snapshot.paths, false, updates);
  if (snapshot.run.status != RunStatus::completed)
    snapshot.run.status = RunStatus::running;
  return {};
}

/// With start_at_step: resets the run from that step on, with the given workflow. Otherwise the
/// workflow must be that of the run.
Result<void> start_at(Snapshot& snapshot, const Value& arguments, const Given& given,
                      std::vector<Update>& updates) {
  const auto step = json::text(arguments, "start_at_step");
  const bool other = given.workflow && snapshot.memo.driven;
  if (!step)
    return other ? unchanged(snapshot, arguments, given) : Result<void>();
  if (other)
    adopt(snapshot, arguments, given, updates);
  return reset_from(snapshot, std::string(*step));
}

Result<std::vector<Update>> go_on(Snapshot& snapshot, const Value& arguments, const Given& given) {
  std::vector<Update> updates;
  if (auto same = same_workflow(snapshot, given); !same)
    return pass_on(same);
  if (!snapshot.memo.driven)
    if (auto taken = take_over(snapshot, arguments, given, updates); !taken)
      return pass_on(taken);
  if (const auto trouble = snapshot.trouble())
    return wrong(trouble->why + "; to go on: " + trouble->action);
  if (auto started = start_at(snapshot, arguments, given, updates); !started)
    return pass_on(started);
  const Value& root = snapshot.state->document->root();
  const Value* const before = json::child(root, "options");
  auto settings = kept_settings(arguments, before == nullptr ? Json::object() : Json(*before));
  if (!settings)
    return pass_on(settings);
  std::vector<json::Edit> all = update_paths(snapshot);
  for (json::Edit& edit : edits(root, snapshot.run, stamp(snapshot.view.wall)))
    all.push_back(std::move(edit));
  if (before == nullptr ? !(*settings)->ObjectEmpty() : !json::equal(*before, **settings))
    all.insert(all.begin(), json::Edit{"/options", indented(*settings, 1)});
  if (!all.empty())
    updates.emplace_back(SetMembers{snapshot.paths.state(), snapshot.state->document->digest(), all,
                                    "the run was started again"});
  return updates;
}

}  // namespace

std::string take_over_hint(const View& view) {
  return "to take it over, name its workflow: `baton start WORKFLOW.yaml --run-id " +
         printable(view.flow.name, 80) + "`";
}

Result<std::vector<Update>> create(const Request& request, const View& view) {
  const Value& arguments = *request.arguments;
  if (auto fine = check_arguments(arguments); !fine)
    return pass_on(fine);
  auto given = workflow_of(arguments);
  if (!given)
    return pass_on(given);
  Snapshot snapshot(view);
  if (snapshot.state == nullptr)
    return begin(view, arguments, *given);
  return go_on(snapshot, arguments, *given);
}

}  // namespace baton::agent_run
