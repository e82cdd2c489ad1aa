#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/snapshot.h"
#include "dialects/findings.h"

namespace baton::agent_run {
namespace {

constexpr std::array kArguments = {std::string_view("workflow"),
                                   std::string_view("workflow_path"),
                                   std::string_view("prompts"),
                                   std::string_view("max_attempts"),
                                   std::string_view("max_iterations"),
                                   std::string_view("pause_for_human_input"),
                                   std::string_view("gate_state_file"),
                                   std::string_view("logs_dir"),
                                   std::string_view("set"),
                                   std::string_view("start_at_step")};
constexpr std::array kSettings = {std::string_view("max_attempts"),
                                  std::string_view("max_iterations"),
                                  std::string_view("pause_for_human_input"),
                                  std::string_view("gate_state_file"),
                                  std::string_view("logs_dir"),
                                  std::string_view("set"),
                                  std::string_view("workflow_path")};

tl::unexpected<Error> wrong(const std::string& message) {
  return fail(Errc::usage, message);
}

Result<void> check_arguments(const Value& arguments) {
  if (!arguments.IsObject())
    return {};
  for (const auto& member : arguments.GetObject()) {
    const std::string_view name = json::name(member.name);
    if (std::find(kArguments.begin(), kArguments.end(), name) == kArguments.end())
      return wrong("a workflow run is not begun with `" + printable(name, 60) + "`");
  }
  for (const char* const name : {"max_attempts", "max_iterations"})
    if (json::child(arguments, name) != nullptr && json::integer(arguments, name).value_or(0) < 1)
      return wrong(std::string(name) + " is a count from 1 on");
  return {};
}

/// Whether a name can be a variable of a process's environment.
bool is_variable(std::string_view name) {
  return !name.empty() && (name.front() < '0' || name.front() > '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

/// What of the arguments the run state keeps.
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
      return wrong("`set` is an object");
    const Value* const before = json::child(*settings, name);
    Json all = before == nullptr ? Json::object() : Json(*before);
    for (const auto& member : value->GetObject()) {
      const std::string key(json::name(member.name));
      if (!is_variable(key))
        return wrong("`" + printable(key, 60) + "` cannot be a variable of an environment");
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
  for (const Step& step : given.workflow->steps())
    if (!step.body->IsObject())
      return fail(Errc::schema, "a step is a map", step.pointer);
  for (const Step& step : given.workflow->steps()) {
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

/// Agents write into these folders and do not make them.
void make_folders(const Places& places, bool vital, std::vector<Update>& updates) {
  for (const std::string& folder :
       {places.artifacts(), places.reports(), places.manual_inputs(), places.logs()})
    updates.emplace_back(Create{folder + "/.keep", "", "agents and people write here", vital});
}

/// The run's own copies. One that lies there from before is used or replaced.
std::vector<Update> pinned(const View& view, const Value& arguments, const Given& given) {
  const Places places(view);
  std::vector<Update> updates;
  const auto put = [&](const std::string& path, const std::string& text) {
    const std::string why = "the run keeps the workflow it is started with";
    const auto there = view.docs.find(path);
    if (there == view.docs.end())
      updates.emplace_back(Create{path, text, why});
    else if (there->second.document->text() != text)
      updates.emplace_back(Replace{path, there->second.document->digest(), text, why});
  };
  put(places.workflow(), given.document->text());
  if (const Value* const prompts = json::child(arguments, "prompts"); prompts != nullptr)
    for (const Step& step : given.workflow->steps())
      put(places.prompt(step.id), std::string(json::text(*prompts, step.id).value_or("")));
  return updates;
}

Result<std::vector<Update>> begin(const View& view, const Value& arguments, const Given& given) {
  const Places places(view);
  if (!given.workflow)
    return wrong("there is no run " + printable(view.flow.name, 80) +
                 "; to begin one, name its workflow file: `baton start WORKFLOW.yaml`");
  if (json::child(arguments, "start_at_step") != nullptr)
    return wrong("there is no run " + printable(view.flow.name, 80) +
                 " to go on with: --start-at-step needs one that has begun");
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
       {"repo_dir", places.repository()},
       {"reports_dir", places.absolute(places.reports())},
       {"manual_inputs_dir", places.absolute(places.manual_inputs())},
       {"created_at", now},
       {"updated_at", now},
       {"status", word(RunStatus::running)},
       {"options", *settings},
       {"steps", steps}});
  std::vector<Update> updates = pinned(view, arguments, given);
  make_folders(places, true, updates);
  // Last, for it is what brings the run to life.
  updates.emplace_back(Create{places.state(), state.pretty(), "the run was asked for"});
  return updates;
}

/// `--start-at-step`: the step and everything behind it as they were before they ever began; what
/// others have finished stays.
Result<void> reset_from(Scene& scene, const std::string& id) {
  const Step* const first = scene.workflow->step(id);
  if (first == nullptr) {
    const auto ids = scene.workflow->ids();
    const std::string near = near_word(id, ids);
    return wrong("the workflow has no step " + quoted_word(id) + "; it has " + any_of_words(ids) +
                 (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  for (const Run& run : scene.view.runs)
    if (run.live())
      return wrong("agents of the run are at work; `baton stop " + scene.view.flow.name +
                   "` first, or wait for them");
  for (const Step& step : scene.workflow->steps()) {
    StepRecord& record = scene.record(step.id);
    if (step.id != id && !scene.workflow->ancestors(step).contains(id))
      continue;
    record.reset();
    record.iterations = 0;
    record.last_gate_failure.reset();
  }
  scene.run.status = RunStatus::running;
  return {};
}

/// From here on the workflow is the run's. Steps it has no more are left out; new ones begin as
/// new.
void adopt(Scene& scene, const Value& arguments, const Given& given, std::vector<Update>& updates) {
  updates = pinned(scene.view, arguments, given);
  for (const Step& step : given.workflow->steps())
    scene.run.steps.try_emplace(step.id);
  for (auto& [id, record] : scene.run.steps)
    if (given.workflow->step(id) == nullptr && !record.done())
      record.status = Status::skipped;
  scene.workflow = given.workflow;
}

/// D-AO-9 of what another program has written down: absolute artifacts in the repository, here or
/// where it lay before, become relative.
Json below_here(const Places& places, const std::string& before, const Json& artifacts) {
  if (!artifacts->IsArray())
    return artifacts;
  Json all = Json::array();
  for (const Value& item : artifacts->GetArray()) {
    const std::string path(json::text(item).value_or(""));
    const bool moved = !before.empty() && within(path, before) && path.size() > before.size();
    all.push(path.empty() ? Json(item)
                          : Json(moved ? path.substr(before.size() + 1) : places.relative(path)));
  }
  return all;
}

/// A run that was moved, or whose repository was named by a link, lies where its folder is: there
/// its agents are told to write.
std::vector<json::Edit> settle_here(Scene& scene) {
  const Value& root = scene.state->document->root();
  const Places& places = scene.places;
  std::string before(json::text(root, "repo_dir").value_or(""));
  while (before.ends_with('/'))
    before.pop_back();
  const auto move = [&](std::optional<std::string>& path) {
    if (path && within(*path, before))
      path = places.repository() + path->substr(before.size());
  };
  std::vector<json::Edit> edits;
  const auto set = [&](std::string_view key, const std::string& path) {
    if (json::text(root, key) != path)
      edits.push_back(json::Edit{"/" + std::string(key), Json(path).dump()});
  };
  if (before != places.repository())
    for (auto& [id, record] : scene.run.steps) {
      move(record.report_path);
      move(record.manual_input_path);
    }
  for (auto& [id, record] : scene.run.steps)
    record.artifacts = below_here(places, before, record.artifacts);
  set("repo_dir", places.repository());
  set("reports_dir", places.absolute(places.reports()));
  set("manual_inputs_dir", places.absolute(places.manual_inputs()));
  return edits;
}

/// A run goes on with the workflow it was started with, unless it is told where to begin anew.
Result<void> unchanged(const Scene& scene, const Value& arguments, const Given& given) {
  for (const Update& update : pinned(scene.view, arguments, given))
    if (const auto* const copy = std::get_if<Replace>(&update))
      return wrong("the run " + printable(scene.view.flow.name, 80) + " has a " + copy->path +
                   " of its own, which differs from what is given, and goes on with that; "
                   "--start-at-step STEP takes over what is given, and begins there anew");
  return {};
}

/// Who names a run and a workflow file that is another one has mistaken one of them: it would be
/// the end of all the run's steps.
Result<void> same_workflow(const Scene& scene, const Given& given) {
  const auto name = json::text(scene.state->document->root(), "workflow_name").value_or("unnamed");
  const auto other =
      given.workflow ? json::text(given.document->root(), "name").value_or("unnamed") : name;
  if (name == other)
    return {};
  return wrong("the run " + printable(scene.view.flow.name, 80) + " is one of the workflow " +
               quoted_word(name) + ", and the file is that of " + quoted_word(other));
}

/// The run of another program: from here on baton drives it.
Result<void> take_over(Scene& scene, const Value& arguments, const Given& given,
                       std::vector<Update>& updates) {
  if (!given.workflow)
    return wrong("the run " + printable(scene.view.flow.name, 80) +
                 " belongs to another program; " + taking_over(scene.view));
  adopt(scene, arguments, given, updates);
  // Most have them, unless the run came without its empty folders, as from git.
  make_folders(scene.places, false, updates);
  if (scene.run.status != RunStatus::completed)
    scene.run.status = RunStatus::running;
  return {};
}

/// Where a step is named, everything from there on begins anew, with what is given.
Result<void> start_at(Scene& scene, const Value& arguments, const Given& given,
                      std::vector<Update>& updates) {
  const auto step = json::text(arguments, "start_at_step");
  const bool other = given.workflow && scene.memo.driven;
  if (!step)
    return other ? unchanged(scene, arguments, given) : Result<void>();
  if (other)
    adopt(scene, arguments, given, updates);
  return reset_from(scene, std::string(*step));
}

Result<std::vector<Update>> go_on(Scene& scene, const Value& arguments, const Given& given) {
  std::vector<Update> updates;
  if (auto same = same_workflow(scene, given); !same)
    return pass_on(same);
  if (!scene.memo.driven)
    if (auto taken = take_over(scene, arguments, given, updates); !taken)
      return pass_on(taken);
  if (const std::string trouble = scene.trouble(); !trouble.empty())
    return wrong(trouble);
  if (auto started = start_at(scene, arguments, given, updates); !started)
    return pass_on(started);
  const Value& root = scene.state->document->root();
  const Value* const before = json::child(root, "options");
  auto settings = kept_settings(arguments, before == nullptr ? Json::object() : Json(*before));
  if (!settings)
    return pass_on(settings);
  std::vector<json::Edit> all = settle_here(scene);
  const std::vector<json::Edit> changes = edits(root, scene.run, stamp(scene.view.wall));
  all.insert(all.end(), changes.begin(), changes.end());
  if (before == nullptr ? !(*settings)->ObjectEmpty() : !json::equal(*before, **settings))
    all.insert(all.begin(), json::Edit{"/options", laid_out(*settings, 1)});
  if (!all.empty())
    updates.emplace_back(SetMembers{scene.places.state(), scene.state->document->digest(), all,
                                    "the run was asked to go on"});
  return updates;
}

}  // namespace

std::string taking_over(const View& view) {
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
  Scene scene(view);
  if (scene.state == nullptr)
    return begin(view, arguments, *given);
  return go_on(scene, arguments, *given);
}

}  // namespace baton::agent_run
